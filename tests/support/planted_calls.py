"""Calls of a year and a half by hour: the sandbox's weeks, hours, seasons and holidays, and trends and moods."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from sandbox.world.hours import HOUR, hours_of, month_of, to_local
from sandbox.world.practices import Practice

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
