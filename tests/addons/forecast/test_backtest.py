"""Forecasts of weeks that are known: seasons, holidays, trends and moods of days are planted.

docs/forecast.md has each week of 50 practices: `PYTHONPATH=tests:. python -m addons.forecast.test_backtest`.
"""

import sys
import time
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from vetl.addons.forecast.job import FEWEST_WEEKS
from vetl.addons.forecast.practices import DAYS, MOST_WEEKS, Span, predictions
from vetl_sandbox.world.hours import HOUR, hours_of, month_of, to_local
from vetl_sandbox.world.practices import Practice, practices

FIRST = datetime(2024, 1, 1)  # noqa: DTZ001 - the wall clock
"""A Monday."""
HOLIDAYS = (date(2024, 1, 1), date(2024, 12, 25), date(2025, 1, 1))


def planted(practices: list[Practice], weeks: int, a_day: float, seed: int) -> pl.DataFrame:
    """Return `practice_id`, `at` (wall clock), `calls`, `bookable_calls` and `staff_minutes` for every hour.

    A practice has between half and twice `a_day` calls on an average day, and a trend; each day has a mood.
    """
    rng = np.random.default_rng(seed)
    return pl.concat([_of_one(practice, weeks, a_day * rng.uniform(0.5, 2), rng) for practice in practices])


def _of_one(practice: Practice, weeks: int, a_day: float, rng: Any) -> pl.DataFrame:
    busy = _busyness(practice, weeks)
    mood = np.repeat(rng.gamma(30, 1 / 30, weeks * 7), 24)
    growth = np.exp(rng.uniform(-0.2, 0.3) * np.arange(len(busy)) / (365 * 24))
    calls = rng.poisson(busy * a_day * mood * growth)
    return pl.DataFrame(
        {
            "practice_id": [practice.id] * len(busy),
            "at": [FIRST + timedelta(hours=number) for number in range(len(busy))],
            "calls": calls.astype(np.float64),
            "bookable_calls": rng.binomial(calls, 0.3).astype(np.float64),
            "staff_minutes": np.where(calls > 0, rng.gamma(np.maximum(calls, 1) * 1.5, 2.0), 0.0),
        }
    )


def _busyness(practice: Practice, weeks: int) -> Any:
    """Return the share of an average day's calls by hour of the wall clock."""
    months = {month_of(FIRST + timedelta(days=day)) for day in range(-1, weeks * 7 + 1)}
    start = int(FIRST.replace(tzinfo=UTC).timestamp()) * 1000 // HOUR
    busy = np.zeros(weeks * 7 * 24)
    for month in sorted(months):
        hours = hours_of(practice, month)
        place = to_local(hours.begins, practice.time_zone) // HOUR - start
        within = (place >= 0) & (place < len(busy))
        np.add.at(busy, place[within], hours.weight[within])
    return busy


MEASURES = ("calls", "bookable_calls", "staff_minutes")
BUSY = 4
"""An hour with more expected calls is busy."""


def backtest(hours: pl.DataFrame, after: Iterable[int]) -> pl.DataFrame:
    """Return the predictions made after each of these weeks, beside the counts of the hours."""
    return pl.concat(_made_after(hours, weeks) for weeks in after)


def _made_after(hours: pl.DataFrame, weeks: int) -> pl.DataFrame:
    end = FIRST + timedelta(weeks=weeks)
    through, used = end.date() - timedelta(days=1), min(weeks, MOST_WEEKS)
    names = hours.get_column("practice_id").unique(maintain_order=True)
    first, as_of = through - timedelta(days=7 * used - 1), end.replace(tzinfo=UTC)
    spans = [Span(name, "UTC", as_of, through, first, through, through) for name in names]
    known = hours.filter(pl.col("at") < end, pl.col("at") >= end - timedelta(weeks=used))
    made = predictions(known, spans, dict.fromkeys(names, HOLIDAYS), MEASURES)
    at = pl.col("day").cast(pl.Datetime("us")) + pl.duration(hours="hour")
    counted = hours.rename({measure: f"{measure}_counted" for measure in MEASURES})
    return made.with_columns(at=at).join(counted, on=["practice_id", "at"]).with_columns(after=pl.lit(weeks))


def score(made: pl.DataFrame, measure: str, *by: str) -> pl.DataFrame:
    """Return the coverage of the intervals, and the error beside that of the seasonal naive prediction."""
    counted = pl.col(f"{measure}_counted")
    error, naive = ((counted - pl.col(name)).abs().sum() for name in (measure, f"{measure}_naive"))
    return made.group_by(*by or [pl.lit(measure).alias("measure")]).agg(
        hours=pl.len(),
        coverage=counted.is_between(pl.col(f"{measure}_low"), pl.col(f"{measure}_high")).mean(),
        beside_naive=error / naive,
    )


@pytest.fixture(scope="module")
def hours() -> pl.DataFrame:
    return planted(list(practices(4, seed=3)), weeks=66, a_day=40, seed=3)


@pytest.fixture(scope="module")
def made(hours: pl.DataFrame) -> pl.DataFrame:
    """Provide the forecasts of every fourth week of a year."""
    return backtest(hours, range(FEWEST_WEEKS, FEWEST_WEEKS + 52, 4))


@pytest.mark.parametrize("measure", MEASURES)
def test_intervals_hold_80_of_100_hours_and_the_error_is_below_that_of_last_week(
    made: pl.DataFrame, measure: str
) -> None:
    ((_, of, coverage, beside_naive),) = score(made, measure).rows()

    assert of > 10_000
    assert 0.76 <= coverage <= 0.84
    assert beside_naive <= 0.9


def test_intervals_hold_in_busy_hours_too(made: pl.DataFrame) -> None:
    busy = made.filter(pl.col("calls") > BUSY)

    assert 0.76 <= score(busy, "calls").get_column("coverage").item() <= 0.84


def test_a_forecast_is_about_the_14_days_after_it_and_no_holiday(made: pl.DataFrame) -> None:
    days = made.group_by("practice_id", "made_on").agg(pl.col("day").unique().sort())

    for _, made_on, of in days.rows():
        assert set(of) == {made_on + timedelta(days=ahead) for ahead in range(1, DAYS + 1)} - set(HOLIDAYS)
    assert made.filter(pl.col("calls_low") < 0).is_empty()


def test_a_holiday_is_no_example(hours: pl.DataFrame) -> None:
    """On the next Wednesday as many are expected as if Christmas had been an ordinary day."""
    weeks = (date(2025, 1, 6) - FIRST.date()).days // 7
    practice = hours.filter(pl.col("practice_id") == "loc-001")
    after = FIRST + timedelta(weeks=weeks, days=2, hours=8)
    expected = _made_after(practice, weeks).filter(pl.col("at").is_between(after, after + timedelta(hours=9)))
    before = practice.filter(pl.col("at").dt.date() == date(2024, 12, 18)).get_column("calls")

    assert float(expected.get_column("calls").sum()) > 0.6 * float(before.sum())


def test_a_dead_line_lowers_no_expectation_and_a_campaign_raises_it_within_two_weeks(hours: pl.DataFrame) -> None:
    practice = hours.filter(pl.col("practice_id") == "loc-001")
    day = pl.col("at").dt.date()

    def expected(times: float, since: date, until: date) -> float:
        changed = pl.when(day.is_between(since, until)).then(pl.col("calls") * times).otherwise(pl.col("calls"))
        made = _made_after(practice.with_columns(calls=changed), 40)
        return float(made.get_column("calls").sum())

    end = (FIRST + timedelta(weeks=40)).date()
    usual = expected(1, end, end)

    assert expected(0, end - timedelta(days=6), end - timedelta(days=4)) > 0.9 * usual
    assert expected(2, end - timedelta(days=14), end) > 1.6 * usual


def main() -> None:
    """Write the scores of every week of a year, and the time that the forecasts of 50 practices take."""
    hours = planted(list(practices(50, seed=3)), weeks=66, a_day=40, seed=3)
    begun, worked = time.perf_counter(), time.process_time()
    _made_after(hours, 60)
    took, of_a_core = time.perf_counter() - begun, time.process_time() - worked
    lines = [f"50 practices: {took:.1f} s, {of_a_core:.1f} s of a core"]
    made = backtest(hours, range(FEWEST_WEEKS, FEWEST_WEEKS + 52))
    for name, rows in (("all", made), ("busy", made.filter(pl.col("calls") > BUSY))):
        for measure in MEASURES:
            _, of, coverage, beside_naive = score(rows, measure).row(0)
            by = [score(rows, measure, key).get_column("coverage") for key in ("after", "practice_id")]
            ends = " ".join(f"{column.min():.3f}-{column.max():.3f}" for column in by)
            lines.append(f"{name} {measure}: {of} hours, {coverage:.3f} within ({ends}), {beside_naive:.3f}")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
