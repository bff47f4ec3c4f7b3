"""The marts of calls, implemented a second time from design §7: intent by day and hour, and restatements."""

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

from support.cells import groups, rate
from support.daily import intent
from support.expected.tasks import CLOSES, DAYS, OPENS
from support.mart_inputs import Expected, Known
from support.random_rows import Row
from support.zones import zone

QUARTER = timedelta(minutes=15)
Hour = tuple[Any, ...]
"""A practice, a day of the week from 1, and an hour."""
ANSWERED = {"completed", "in_progress"}
ENDINGS = {
    "resolved": (
        "appointment_booked appointment_rescheduled appointment_confirmed appointment_canceled declined"
        " do_not_call resolved"
    ),
    "handed_over": "callback_requested forwarded transferred transfer_completed task_created",
    "lost": (
        "no_answer voicemail quick_abandoned abandoned abandoned_after_transfer dropped transfer_no_human"
        " transfer_caller_abandoned"
    ),
}
"""The project's defaults."""
KINDS = ("direction", "caller_type", "call_classification")


def booking_intent_daily(source: Known) -> Expected:
    days = groups(source.rows("phone_calls"), lambda row: row["call_date"], *KINDS)
    return {key: intent(calls) for key, calls in days.items()}


def booking_intent_hourly(source: Known) -> Expected:
    calls, passed = calls_by_hour(source), hours_passed(source)
    return {key: hour(calls.get(key, []), passed.get(key, 0)) for key in calls.keys() | passed.keys()}


def hour(calls: list[Row], times: int) -> tuple[Any, ...]:
    """Return a cell of the week: without a rate of new bookings, with the missed inbound calls."""
    *counts, answered, new, booked, _, missed = intent(calls)
    inbound = [row for row in calls if row["direction"] == "inbound"]
    *_, inbound_answered, _, _, _, inbound_missed = intent(inbound)
    return (*counts, answered, new, booked, missed, len(inbound) - inbound_answered, inbound_missed, times)


def calls_by_hour(source: Known) -> dict[Hour, list[Row]]:
    """Return the calls of each practice by weekday and hour of the wall clock."""
    calls: dict[Hour, list[Row]] = defaultdict(list)
    for row in source.rows("phone_calls"):
        local = row["called_at_local"]
        calls[row["practice_id"], local.isoweekday(), local.hour].append(row)
    return calls


def hours_passed(source: Known) -> dict[Hour, int]:
    """Return how often the clock of each practice began each hour of the week."""
    return {
        (practice.id, *name): times
        for practice in source.practices
        for name, times in wall_hours(source, practice.id, practice.time_zone).items()
    }


def wall_hours(source: Known, practice_id: str, zone_name: str) -> Counter[tuple[int, int]]:
    """Return the hours that a wall clock began, from that of the first call to that of the last sync.

    Quarter by quarter: the hour that is skipped never shows, the one that is repeated shows with two offsets.
    """
    called = [row["called_at"] for row in source.rows("phone_calls") if row["practice_id"] == practice_id]
    begun = set[tuple[Any, ...]]()
    at = min(called, default=source.now + QUARTER)
    at -= timedelta(minutes=at.minute % 15)
    while at <= source.now:
        local = at.astimezone(zone(zone_name))
        begun.add((local.date(), local.hour, local.utcoffset()))
        at += QUARTER
    return Counter((day.isoweekday(), hour) for day, hour, _ in begun)


def call_endings_daily(source: Known) -> Expected:
    """Return how inbound calls ended, within opening hours and after them."""
    calls: dict[Any, list[Row]] = defaultdict(list)
    for row in source.rows("phone_calls"):
        if row["direction"] == "inbound":
            local = row["called_at_local"]
            is_open = local.isoweekday() <= DAYS and OPENS <= local.hour < CLOSES
            key = row["practice_id"], row["call_date"], is_open, row["call_classification"] or None
            calls[key].append(row)
    return {key: endings(rows) for key, rows in calls.items()}


def call_endings_hourly(source: Known) -> Expected:
    """Return how inbound calls ended, by the hour of the wall clock."""
    calls: dict[Any, list[Row]] = defaultdict(list)
    for row in source.rows("phone_calls"):
        if row["direction"] == "inbound":
            local = row["called_at_local"]
            calls[row["practice_id"], local.hour, row["call_classification"] or None].append(row)
    columns = ("calls", "resolved", "handed_over", "lost", "containment_rate")
    return {key: {name: endings(rows)[name] for name in columns} for key, rows in calls.items()}


def endings(rows: list[Row]) -> dict[str, Any]:
    counts = Counter(ending(row) for row in rows)
    ended = {name: counts[name] for name in ("resolved", "handed_over", "lost")}
    return {
        "calls": len(rows),
        "answered": sum(row["state"] in ANSWERED for row in rows),
        **ended,
        "other": counts["other"],
        "containment_rate": rate(ended["resolved"], sum(ended.values())),
    }


def ending(row: Row) -> str:
    """Return the listed ending of the outcome, else by whether somebody answered."""
    listed = next((name for name, outcomes in ENDINGS.items() if row["outcome"] in outcomes.split()), None)
    return listed or ("other" if row["state"] in ANSWERED else "lost")
