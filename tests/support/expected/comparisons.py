"""Days that are far from the same weekday of the weeks before, and practices beside all others: a second time."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from math import sqrt
from statistics import mean, stdev
from typing import Any

from support.cells import rate
from support.expected.overview import CALLERS, SMALL, callers, counted_by_day
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
        (practice, day, measure): judged(counted, practice, day, measure, is_over=bool(tuple(row)[4]))
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


def judged(counted: Any, practice: str, day: date, measure: str, *, is_over: bool) -> dict[str, Any]:
    baseline = before(counted, practice, day, measure)
    count, whole = measured(counted[practice, day], measure)
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
    row: dict[str, Any] = {
        "value": value,
        "of_cases": whole,
        "baseline_days": len(values),
        "expected": expected,
        "low": low,
        "high": high,
        "distance": distance,
        "is_holiday": False,
    }
    word = "ordinary"
    if not is_over:
        word = "not over"
    elif row["baseline_days"] < WEEKS / 2:
        word = "no baseline"
    elif is_few(row, cases):
        word = "few"
    elif row["value"] < row["low"]:
        word = "low"
    elif row["value"] > row["high"]:
        word = "high"
    is_anomaly = word in {"low", "high"}
    return {
        **row,
        "verdict": word,
        "is_anomaly": is_anomaly,
        "is_worse": word == "low" if is_anomaly and measure in SHARES else None,
    }


def is_few(row: Mapping[str, Any], cases: int) -> bool:
    if row["of_cases"] is None:
        return max(row["value"], row["expected"]) < LEAST
    return row["of_cases"] < LEAST or cases < SMALL


DAYS, Z = 28, 1.96
RATES: dict[str, Callable[[Mapping[str, int]], tuple[int, int]]] = {
    **SHARES,
    "booked_within_7_days_rate": lambda day: (day["booked_within_7_days"], day["new_booking_callers"]),
}
IS_OVER, IS_OLD = 4, 6
"""The places of these columns in the days of practices."""
READY = {"answered_rate": IS_OVER, "booked_within_7_days_rate": IS_OLD, "completion_rate": IS_OVER}
Total = tuple[list[date], int, int]


def practice_peers(source: Known) -> Expected:
    expected: dict[Any, dict[str, Any]] = {}
    counted, who = counted_by_day(source), callers(source, lambda day: day)
    here = {key: Counter({**counts, **who.get(key, dict.fromkeys(CALLERS, 0))}) for key, counts in counted.items()}
    for measure, ready in READY.items():
        totals = {
            practice: total
            for practice in {practice for practice, _ in practice_days(source)}
            if (total := added(source, here, practice, measure, ready))
        }
        for practice in totals:
            expected[practice, measure] = compared(totals, practice)
    return expected


def added(source: Known, counted: Any, practice: str, measure: str, ready: int) -> Total | None:
    """Return the last days that are old enough, with the sums of parts and wholes."""
    days = sorted(
        day for (one, day), row in practice_days(source).items() if one == practice and tuple(row)[ready]
    )
    parts = wholes = 0
    for day in days[-DAYS:]:
        part, whole = RATES[measure](counted[practice, day])
        parts, wholes = parts + part, wholes + whole
    return (days[-DAYS:], parts, wholes) if days else None


def compared(totals: Mapping[str, Total], practice: str) -> dict[str, Any]:
    days, part, whole = totals[practice]
    others = [total for name, total in totals.items() if name != practice]
    peers = rate(sum(other[1] for other in others), sum(other[2] for other in others))
    shares = [some / of for _, some, of in totals.values() if of]
    value, (low, high) = rate(part, whole), wilson(part, whole)
    verdict = None
    if peers is not None and low is not None and high is not None:
        verdict = "better" if peers < low else "worse" if peers > high else "alike"
    return {
        "first_day": days[0],
        "last_day": days[-1],
        "value": value,
        "cases": whole,
        "low": low,
        "high": high,
        "peers": peers,
        "place": None if value is None else 1 + sum(share > value for share in shares),
        "practices": len(shares),
        "verdict": verdict,
    }


def wilson(part: int, whole: int) -> tuple[float | None, float | None]:
    """Return the interval of a share by its two roots."""
    if not whole:
        return None, None
    a, b, c = whole + Z**2, 2 * part + Z**2, part**2 / whole
    root = sqrt(b**2 - 4 * a * c)
    return (b - root) / (2 * a), (b + root) / (2 * a)
