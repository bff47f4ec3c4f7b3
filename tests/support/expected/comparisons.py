"""Practices beside all others: a second time."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from support.cells import rate
from support.expected.overview import CALLERS, callers, counted_by_day
from support.expected.practice import practice_days
from support.mart_inputs import Expected, Known
from vetl.core.significance import share_interval

SHARES: dict[str, Callable[[Mapping[str, int]], tuple[int, int]]] = {
    "answered_rate": lambda day: (day["answered_inbound_calls"], day["inbound_calls"]),
    "new_booking_rate": lambda day: (
        day["new_booking_intent_calls"] - day["missed_new_booking_calls"],
        day["new_booking_intent_calls"],
    ),
    "completion_rate": lambda day: (day["completed"], day["sessions"]),
}
DAYS = 28
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
    value, (low, high) = rate(part, whole), share_interval(part, whole) if whole else (None, None)
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
