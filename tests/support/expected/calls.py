"""The marts of calls, read from design §7 once more: intent by day and hour, and what was restated."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

from support.cells import count, groups
from support.daily import intent
from support.known import Expected, Known
from support.random_rows import Row
from support.zones import day_after, midnight, zone

QUARTER = timedelta(minutes=15)


def booking_intent_daily(known: Known) -> Expected:
    kinds = ("direction", "caller_type", "call_classification")
    found = groups(known.rows("phone_calls"), lambda row: row["call_date"], *kinds)
    return {key: intent(calls) for key, calls in found.items()}


def booking_intent_hourly(known: Known) -> Expected:
    calls: dict[Any, list[Row]] = defaultdict(list)
    for row in known.rows("phone_calls"):
        local = row["called_at_local"]
        calls[row["practice_id"], local.isoweekday(), local.hour].append(row)
    passed = {
        (practice.id, *name): times
        for practice in known.practices
        for name, times in wall_hours(known, practice.id, practice.time_zone).items()
    }
    return {key: (*intent(calls[key]), passed.get(key, 0)) for key in calls.keys() | passed.keys()}


def wall_hours(known: Known, practice_id: str, zone_name: str) -> Counter[tuple[int, int]]:
    """The hours that a clock on the wall began, from that of the first call to that of the last sync.

    Quarter by quarter: the hour that is skipped never shows, the one that is repeated shows with two offsets.
    """
    called = [row["called_at"] for row in known.rows("phone_calls") if row["practice_id"] == practice_id]
    begun = set[tuple[Any, ...]]()
    at = min(called, default=known.now + QUARTER)
    at -= timedelta(minutes=at.minute % 15)
    while at <= known.now:
        local = at.astimezone(zone(zone_name))
        begun.add((local.date(), local.hour, local.utcoffset()))
        at += QUARTER
    return Counter((day.isoweekday(), hour) for day, hour, _ in begun)


def booking_intent_restatements(known: Known) -> Expected:
    """What a report a day after the day's end could have said, against what is known now."""
    versions: dict[tuple[str, date], list[tuple[Row, datetime, datetime | None]]] = defaultdict(list)
    for row in known.tables.get("history.phone_calls", ()):
        versions[row["practice_id"], row["call_date"]].append((row, row["_valid_from"], row["_valid_to"]))
    for row in known.tables["phone_calls"]:
        versions[row["practice_id"], row["call_date"]].append((row, row["_loaded_at"], row["_deleted_at"]))
    return {key: then_and_now(known, key, seen) for key, seen in versions.items()}


def then_and_now(
    known: Known, key: tuple[str, date], seen: list[tuple[Row, datetime, datetime | None]]
) -> tuple[Any, ...]:
    practice_id, day = key
    name = known.zone_of(practice_id)
    end = midnight(day_after(day), name) if name else None
    then: tuple[int | None, ...] = (None, None, None)
    if end and end <= known.now and min(since for _, since, _ in seen) <= end + timedelta(days=1):
        report = end + timedelta(days=1)
        then = three_counts(
            row for row, since, until in seen if since <= report and not (until and until <= report)
        )
    now = three_counts(row for row, _, until in seen if not until)
    moved = None if then[0] is None else then != now
    return (then[0], now[0], then[1], now[1], then[2], now[2], moved)


def three_counts(calls: Iterable[Row]) -> tuple[int, int, int]:
    found = list(calls)
    return len(found), count(found, lambda row: row["booking_intent"]), count(found, lambda row: row["booked"])
