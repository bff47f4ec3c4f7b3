"""What a report a day after a day's end could have said, against what is known now, of calls and of sessions."""

from collections import defaultdict
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from support.cells import count
from support.known import Expected, Known
from support.random_rows import Row
from support.zones import day_after, midnight

Seen = list[tuple[Row, datetime, datetime | None]]
"""Versions, and from when until when each was what vetl knew."""
Condition = Callable[[Row], Any]

CALLS: tuple[Condition, ...] = (lambda _: True, lambda row: row["booking_intent"], lambda row: row["booked"])
SESSIONS: tuple[Condition, ...] = (
    lambda _: True,
    lambda row: row["status"] == "completed",
    lambda row: row["status"] == "abandoned",
    lambda row: row["status"] == "active",
    lambda row: row["appointment_id"] or row["remote_appointment_id"],
)


def booking_intent_restatements(known: Known) -> Expected:
    days = seen_by_day(known, "phone_calls", lambda row: row["call_date"])
    return {key: then_and_now(known, key, seen, CALLS) for key, seen in days.items()}


def booking_funnel_restatements(known: Known) -> Expected:
    days = seen_by_day(known, "booking_sessions", known.day)
    return {key: then_and_now(known, key, seen, SESSIONS) for key, seen in days.items()}


def seen_by_day(
    known: Known, table: str, day: Callable[[Row], date | None]
) -> dict[tuple[str, date | None], Seen]:
    versions: dict[tuple[str, date | None], Seen] = defaultdict(list)
    for row in known.tables.get(f"history.{table}", ()):
        versions[row["practice_id"], day(row)].append((row, row["_valid_from"], row["_valid_to"]))
    for row in known.tables[table]:
        versions[row["practice_id"], day(row)].append((row, row["_loaded_at"], row["_deleted_at"]))
    return versions


def then_and_now(
    known: Known, key: tuple[str, date | None], seen: Seen, conditions: tuple[Condition, ...]
) -> tuple[Any, ...]:
    practice_id, day = key
    name = known.zone_of(practice_id)
    end = midnight(day_after(day), name) if name and day else None
    now = [count([row for row, _, until in seen if not until], one) for one in conditions]
    then: list[int] | None = None
    if end and end <= known.now and min(since for _, since, _ in seen) <= end + timedelta(days=1):
        report = end + timedelta(days=1)
        shown = [row for row, since, until in seen if since <= report and not (until and until <= report)]
        then = [count(shown, one) for one in conditions]
    pairs = zip(then or [None] * len(now), now, strict=True)
    return (*(number for pair in pairs for number in pair), None if then is None else then != now)
