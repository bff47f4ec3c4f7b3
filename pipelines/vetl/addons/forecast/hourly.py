"""Predict the hours of the next days from the hours before, with intervals. No I/O.

The shape of the week is an exponentially weighted mean of the same hour of the same weekday. It is scaled to the
level, a mean with more weight on the last weeks. The errors of forecasts made in the last weeks give the intervals
(split conformal prediction). They are divided by the root of the expected value, and taken apart for the third of
the hours with few, some and many calls.
"""

from typing import cast

import polars as pl
from statsforecast import StatsForecast
from statsforecast.models import SeasonalExponentialSmoothing, SeasonalNaive

WEEK = 7 * 24
"""The season, in hours."""

COVERED = 0.8
"""The share of hours that the intervals hold."""

_WEIGHT_OF_SHAPE = 0.1
"""The weight of the last week in the share that each hour has of a week's calls."""

_WEIGHT_OF_LEVEL = 0.5
"""The weight of the last week in the number of calls of a week."""

_TRIED = 8
"""The most pairs of weeks whose errors give the intervals."""

_LEARNT = 4
"""The fewest weeks that such a pair is predicted from, less one."""

_SMALLEST = 0.5
"""Added to the expected value before its root, so that an hour without calls has an interval, too."""


def predicted(hours: pl.DataFrame, ahead: int) -> pl.DataFrame:
    """Return `series`, `at`, `expected`, `low`, `high` and `naive` of the next `ahead` hours of each series.

    Args:
        hours: `series`, `at` (wall clock, every hour once, in order) and `value`, of at least eight whole
            weeks. A null is no example, such as an hour of a holiday: the week before stands for it.
        ahead: The number of hours after the last one of each series. `naive` is the same hour of the last week.
    """
    place = pl.int_range(pl.len()).over("series") % WEEK
    known = hours.with_columns(place=place).select(
        unique_id="series",
        ds="at",
        y=pl.col("value").fill_null(strategy="forward").over("series", "place"),
    )
    known = known.with_columns(pl.col("y").fill_null(0).cast(pl.Float32))
    tries = pl.min_horizontal(pl.len().over("unique_id") // WEEK - _LEARNT, _TRIED)
    parts = known.with_columns(tries=tries).partition_by("tries", as_dict=True, include_key=False)
    return pl.concat(_predicted(part, ahead, int(tried)) for (tried,), part in parts.items())


def _predicted(known: pl.DataFrame, ahead: int, tries: int) -> pl.DataFrame:
    shape = SeasonalExponentialSmoothing(WEEK, _WEIGHT_OF_SHAPE, alias="shape")
    level = SeasonalExponentialSmoothing(WEEK, _WEIGHT_OF_LEVEL, alias="level")
    models = StatsForecast(models=[shape, level, SeasonalNaive(WEEK, alias="naive")], freq="1h")
    tried = cast("pl.DataFrame", models.cross_validation(df=known, h=2 * WEEK, step_size=WEEK, n_windows=tries))
    coming = cast("pl.DataFrame", models.forecast(df=known, h=ahead))
    return _with_intervals(_levelled(coming, "unique_id"), _levelled(tried, "unique_id", "cutoff")).select(
        "expected", "low", "high", "naive", series="unique_id", at="ds"
    )


def _levelled(table: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return a table with `expected`: the shape of the week, with as many calls as the level has."""
    shape, level = pl.col("shape"), pl.col("level")
    ratio = level.sum().over(by) / shape.sum().over(by)
    return table.with_columns(expected=shape * pl.when(shape.sum().over(by) > 0).then(ratio).otherwise(1))


def _with_intervals(coming: pl.DataFrame, tried: pl.DataFrame) -> pl.DataFrame:
    """Return the predictions with the intervals of the errors of the same series in hours of the same size."""
    expected = pl.col("expected")
    thirds = tried.group_by("unique_id").agg(
        fewer=expected.quantile(1 / 3, "linear"), more=expected.quantile(2 / 3, "linear")
    )
    scale = (expected + _SMALLEST).sqrt()
    error = (pl.col("y") - expected) / scale
    errors = _sized(tried, thirds).group_by("unique_id", "size")
    reach = errors.agg(
        down=error.quantile((1 - COVERED) / 2, "linear"), up=error.quantile((1 + COVERED) / 2, "linear")
    )
    return (
        _sized(coming, thirds)
        .join(reach, on=["unique_id", "size"], how="left")
        .with_columns(
            low=(expected + pl.col("down") * scale).clip(0), high=(expected + pl.col("up") * scale).clip(0)
        )
    )


def _sized(table: pl.DataFrame, thirds: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the `size` of each hour: 0 for few, 1 for some, 2 for many calls."""
    size = (pl.col("expected") > pl.col("fewer")).cast(pl.Int8) + (pl.col("expected") > pl.col("more"))
    return table.join(thirds, on="unique_id").with_columns(size=size)
