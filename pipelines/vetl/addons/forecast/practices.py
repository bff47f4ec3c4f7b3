"""Predict calls, bookable calls and minutes of several practices, hour by hour, from the hours before. No I/O.

The shape of the week is an exponentially weighted mean of the same hour of the same weekday. It is scaled to the
level, a mean with more weight on the last weeks. The errors of forecasts made in the last weeks give the intervals
(split conformal prediction). They are divided by the root of the expected value, and taken apart for the third of
the hours with few, some and many calls.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import polars as pl

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
    number = pl.int_range(pl.len()).over("series")
    known = hours.select("series", "at", "value", place=number % WEEK, week=number // WEEK)
    counted = pl.col("value").fill_null(strategy="forward").over("series", "place").fill_null(0)
    shape, level = _smoothed(counted, _WEIGHT_OF_SHAPE), _smoothed(counted, _WEIGHT_OF_LEVEL)
    learnt = _levelled(known.with_columns(y=counted, shape=shape, level=level))
    last = pl.col("week").max().over("series")
    coming = _after(learnt.filter(pl.col("week") == last), -(-ahead // WEEK))
    end = hours.group_by("series").agg(end=pl.col("at").max().dt.offset_by(f"{ahead}h"))
    coming = coming.join(end, on="series").filter(pl.col("at") <= pl.col("end"))
    # The last week of a pair that was tried is a week that is known.
    tries = pl.min_horizontal(last + 1 - _LEARNT, _TRIED)
    tried = _after(learnt.filter(pl.col("week") > last - 2 - tries, pl.col("week") <= last - 2), 2)
    tried = tried.join(learnt.select("series", "at", "y"), on=["series", "at"])
    return _with_intervals(coming, tried).select("series", "at", "expected", "low", "high", "naive")


def _smoothed(value: pl.Expr, weight: float) -> pl.Expr:
    """Return the mean of each hour of the week so far, in which the last week has this weight."""
    return value.ewm_mean(alpha=weight, adjust=False).over("series", "place")


def _levelled(learnt: pl.DataFrame) -> pl.DataFrame:
    """Return what each week predicts: the shape of the week, with as many calls as the level has; last week's."""
    shape, level = (pl.col(name).sum().over("series", "week") for name in ("shape", "level"))
    expected = pl.col("shape") * pl.when(shape > 0).then(level / shape).otherwise(1)
    return learnt.with_columns(expected=expected, naive="y")


def _after(learnt: pl.DataFrame, weeks: int) -> pl.DataFrame:
    """Return the predictions for each of so many weeks after each week."""
    ahead = pl.DataFrame({"ahead": range(1, weeks + 1)})
    at = pl.col("at") + pl.duration(weeks="ahead")
    return learnt.join(ahead, how="cross").select("series", "expected", "naive", at=at)


def _with_intervals(coming: pl.DataFrame, tried: pl.DataFrame) -> pl.DataFrame:
    """Return the predictions with the intervals of the errors of the same series in hours of the same size."""
    expected = pl.col("expected")
    thirds = tried.group_by("series").agg(
        fewer=expected.quantile(1 / 3, "linear"), more=expected.quantile(2 / 3, "linear")
    )
    scale = (expected + _SMALLEST).sqrt()
    error = (pl.col("y") - expected) / scale
    errors = _sized(tried, thirds).group_by("series", "size")
    reach = errors.agg(
        down=error.quantile((1 - COVERED) / 2, "linear"), up=error.quantile((1 + COVERED) / 2, "linear")
    )
    return (
        _sized(coming, thirds)
        .join(reach, on=["series", "size"], how="left")
        .with_columns(
            low=(expected + pl.col("down") * scale).clip(0), high=(expected + pl.col("up") * scale).clip(0)
        )
    )


def _sized(table: pl.DataFrame, thirds: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the `size` of each hour: 0 for few, 1 for some, 2 for many calls."""
    size = (pl.col("expected") > pl.col("fewer")).cast(pl.Int8) + (pl.col("expected") > pl.col("more"))
    return table.join(thirds, on="series").with_columns(size=size)


DAYS = 14
"""The days that a forecast is about."""

_LEAST = 0.05
"""An hour in which fewer calls are expected has no prediction: one call in twenty weeks."""

_NEVER_NONE = 9
"""If so many calls are usual, a day without any is no quiet day: its line is dead, or the practice is closed."""


MOST_WEEKS = 26
"""Older weeks would weigh 6 % together."""


@dataclass(frozen=True, slots=True)
class Span:
    """The calls of a practice: its clock at the last sync, its first and last call, its last certified day."""

    practice_id: str
    time_zone: str
    as_of: datetime
    today: date
    first_call: date
    last_call: date
    through: date

    @property
    def weeks(self) -> int:
        """Return the number of whole weeks that a forecast is made from; they end with the day `through`."""
        return min(((self.through - self.first_call).days + 1) // 7, MOST_WEEKS)

    @property
    def since(self) -> date:
        """Return the first day of these weeks."""
        return self.through - timedelta(days=7 * self.weeks - 1)


def predictions(
    hours: pl.DataFrame, spans: Sequence[Span], holidays: Mapping[str, Collection[date]], measures: Sequence[str]
) -> pl.DataFrame:
    """Return a row for each practice, day and hour of the `DAYS` days after `today`.

    The columns are `practice_id`, `time_zone`, `made_at`, `made_on`, `weeks`, `day`, `hour`, and for each measure
    `m` itself, `m_low`, `m_high` and `m_naive`. Hours of holidays are no examples, and are not predicted. Days of
    a dead line are no examples either.

    Args:
        hours: `practice_id`, `at` (wall clock) and the measures, for every hour of the weeks of each practice.
        spans: One for each practice.
        holidays: The holidays of each practice, before and after.
        measures: The predicted values of each hour; the first is the number of calls.
    """
    off = pl.DataFrame(
        [(practice, day, True) for practice, days in holidays.items() for day in days],
        schema={"practice_id": pl.String, "day": pl.Date, "is_off": pl.Boolean},
        orient="row",
    )
    ahead = 24 * (max((one.today - one.through).days for one in spans) + DAYS)
    known = hours.with_columns(day=pl.col("at").dt.date()).join(
        off, on=["practice_id", "day"], how="left", maintain_order="left"
    )
    is_example = pl.col("is_off").is_null() & ~_is_dead(measures[0])
    coming = [
        predicted(
            known.select("at", series="practice_id", value=pl.when(is_example).then(pl.col(measure))), ahead
        ).select("at", practice_id="series", **_of(measure))
        for measure in measures
    ]
    table = coming[0]
    for other in coming[1:]:
        table = table.join(other, on=["practice_id", "at"])
    made = pl.DataFrame(
        [(one.practice_id, one.time_zone, one.as_of, one.today, one.weeks) for one in spans],
        schema=["practice_id", "time_zone", "made_at", "made_on", "weeks"],
        orient="row",
    )
    day = pl.col("day")
    return (
        table.with_columns(day=pl.col("at").dt.date(), hour=pl.col("at").dt.hour().cast(pl.Int32))
        .join(made, on="practice_id")
        .filter(day > pl.col("made_on"), day <= pl.col("made_on").dt.offset_by(f"{DAYS}d"))
        .filter(pl.col(measures[0]) >= _LEAST)
        .join(off, on=["practice_id", "day"], how="anti")
        .drop("at")
    )


def _is_dead(calls: str) -> pl.Expr:
    """Return whether an hour is of a day without any call, although the same weekday usually has `_NEVER_NONE`."""
    of_day = pl.col(calls).sum().over("practice_id", "day")
    return (of_day == 0) & (of_day.median().over("practice_id", pl.col("day").dt.weekday()) >= _NEVER_NONE)


def _of(measure: str) -> dict[str, pl.Expr]:
    """Return the columns of a measure, with two decimals: more would be noise that fills the file."""
    names = {"expected": measure, **{name: f"{measure}_{name}" for name in ("low", "high", "naive")}}
    return {to: pl.col(name).cast(pl.Float64).round(2) for name, to in names.items()}
