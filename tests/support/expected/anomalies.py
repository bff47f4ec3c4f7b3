"""Days that are far from the same weekday of the weeks before, implemented a second time."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from math import sqrt
from statistics import mean, stdev
from typing import Any

from support.cells import rate
from support.expected.overview import SMALL, counted_by_day
from support.expected.practice import practice_days
from support.mart_inputs import Expected, Known

WEEKS, SPREADS, LEAST = 8, 3, 10
"""The project's defaults; no holiday is set."""
COUNTS = ("inbound_calls", "new_booking_intent_calls", "sessions", "outreach_requests", "tasks_created")
SHARES: dict[str, Callable[[Mapping[str, int]], tuple[int, int]]] = {
    "answered_rate": lambda day: (day["answered_inbound_calls"], day["inbound_calls"]),
    "new_booking_rate": lambda day: (
        day["new_booking_intent_calls"] - day["missed_new_booking_calls"],
        day["new_booking_intent_calls"],
    ),
    "completion_rate": lambda day: (day["completed"], day["sessions"]),
}
Day = tuple[float, int | None]
"""A count, and the number of cases that it is of; None if it is no share."""


def anomalies_daily(source: Known) -> Expected:
    days, every = practice_days(source), counted_by_day(source)
    counted = {day: every[day] for day in days}
    return {
        (practice, day, measure): judged(counted[practice, day], before(counted, practice, day, measure), measure)
        | verdict(counted, practice, day, measure, is_over=bool(tuple(row)[4]))
        for (practice, day), row in days.items()
        for measure in (*COUNTS, *SHARES)
    }


def measured(counts: Mapping[str, int], measure: str) -> Day:
    return SHARES[measure](counts) if measure in SHARES else (counts[measure], None)


def before(counted: Any, practice: str, day: date, measure: str) -> list[Day]:
    """Return the same weekday of the weeks before, as far as the history goes back."""
    weeks = (day - timedelta(weeks=number) for number in range(1, WEEKS + 1))
    return [measured(counted[practice, week], measure) for week in weeks if (practice, week) in counted]


def value_of(day: Day) -> float | None:
    count, whole = day
    return float(count) if whole is None else rate(int(count), whole)


def judged(counts: Mapping[str, int], baseline: list[Day], measure: str) -> dict[str, Any]:
    count, whole = measured(counts, measure)
    values = [value for value in map(value_of, baseline) if value is not None]
    part, cases = sum(one for one, _ in baseline), sum(of or 0 for _, of in baseline)
    scatter = stdev(values) if len(values) > 1 else 0.0
    if whole is None:
        expected = mean(values) if values else None
        chance = sqrt(max(expected or 0, 1))
    else:
        expected = rate(int(part), cases)
        tossed = (part + 1) / (cases + 2)
        chance = sqrt(tossed * (1 - tossed) / whole) if whole and baseline else 0.0
    spread, value = max(scatter, chance), value_of((count, whole))
    low = high = distance = None
    if expected is not None:
        low, high = max(expected - SPREADS * spread, 0.0), expected + SPREADS * spread
        high = high if whole is None else min(high, 1.0)
        distance = (value - expected) / spread if value is not None and spread else None
    return {
        "value": value,
        "of_cases": whole,
        "baseline_days": len(values),
        "expected": expected,
        "low": low,
        "high": high,
        "distance": distance,
        "is_holiday": False,
    }


def verdict(counted: Any, practice: str, day: date, measure: str, *, is_over: bool) -> dict[str, Any]:
    baseline = before(counted, practice, day, measure)
    row = judged(counted[practice, day], baseline, measure)
    word = "ordinary"
    if not is_over:
        word = "not over"
    elif row["baseline_days"] < WEEKS / 2:
        word = "no baseline"
    elif is_few(row, sum(of or 0 for _, of in baseline)):
        word = "few"
    elif row["value"] < row["low"]:
        word = "low"
    elif row["value"] > row["high"]:
        word = "high"
    is_anomaly = word in {"low", "high"}
    return {
        "verdict": word,
        "is_anomaly": is_anomaly,
        "is_worse": word == "low" if is_anomaly and measure in SHARES else None,
    }


def is_few(row: Mapping[str, Any], cases: int) -> bool:
    if row["of_cases"] is None:
        return max(row["value"], row["expected"]) < LEAST
    return row["of_cases"] < LEAST or cases < SMALL
