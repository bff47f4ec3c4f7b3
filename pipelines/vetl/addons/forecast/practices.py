"""Predict the calls, the bookable calls and the minutes of several practices, hour by hour. No I/O."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime

import polars as pl

from vetl.addons.forecast.hourly import predicted

DAYS = 14
"""The days that a forecast is about."""

_LEAST = 0.05
"""An hour in which fewer calls are expected has no prediction: one call in twenty weeks."""

_NEVER_NONE = 9
"""If so many calls are usual, a day without any is no quiet day: its line is dead, or the practice is closed."""


@dataclass(frozen=True, slots=True)
class ForecastInput:
    """The input of a practice's forecast: `weeks` whole weeks of calls, which end with the day `through`."""

    practice_id: str
    time_zone: str
    made_at: datetime
    made_on: date
    weeks: int
    through: date


def predictions(
    hours: pl.DataFrame,
    inputs: Sequence[ForecastInput],
    holidays: Mapping[str, Collection[date]],
    measures: Sequence[str],
) -> pl.DataFrame:
    """Return a row for each practice, day and hour of the `DAYS` days after `made_on`.

    The columns are the fields of `ForecastInput` without `through`, `day`, `hour`, and for each measure `m`
    itself, `m_low`, `m_high` and `m_naive`. Hours of holidays are no examples, and are not predicted. Days of a
    dead line are no examples either.

    Args:
        hours: `practice_id`, `at` (wall clock) and the measures, for every hour of the weeks of each practice.
        inputs: One for each practice.
        holidays: The holidays of each practice, before and after.
        measures: The predicted values of each hour; the first is the number of calls.
    """
    off = pl.DataFrame(
        [(practice, day, True) for practice, days in holidays.items() for day in days],
        schema={"practice_id": pl.String, "day": pl.Date, "is_off": pl.Boolean},
        orient="row",
    )
    ahead = 24 * (max((one.made_on - one.through).days for one in inputs) + DAYS)
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
    made = pl.DataFrame([asdict(one) for one in inputs])
    day = pl.col("day")
    return (
        table.with_columns(day=pl.col("at").dt.date(), hour=pl.col("at").dt.hour().cast(pl.Int32))
        .join(made, on="practice_id")
        .filter(day > pl.col("made_on"), day <= pl.col("made_on").dt.offset_by(f"{DAYS}d"))
        .filter(pl.col(measures[0]) >= _LEAST)
        .join(off, on=["practice_id", "day"], how="anti")
        .drop("at", "through")
    )


def _is_dead(calls: str) -> pl.Expr:
    """Return whether an hour is of a day without any call, although the same weekday usually has `_NEVER_NONE`."""
    of_day = pl.col(calls).sum().over("practice_id", "day")
    return (of_day == 0) & (of_day.median().over("practice_id", pl.col("day").dt.weekday()) >= _NEVER_NONE)


def _of(measure: str) -> dict[str, pl.Expr]:
    """Return the columns of a measure, with two decimals: more would be noise that fills the file."""
    names = {"expected": measure, **{name: f"{measure}_{name}" for name in ("low", "high", "naive")}}
    return {to: pl.col(name).cast(pl.Float64).round(2) for name, to in names.items()}
