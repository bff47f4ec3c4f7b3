"""The marts of calls, implemented a second time from design §7: intent by day and hour, and restatements."""

import math
from collections import Counter, defaultdict
from datetime import timedelta
from statistics import median
from typing import Any

from support.cells import groups, rate
from support.daily import intent
from support.expected.tasks import CLOSES, DAYS, OPENS
from support.mart_inputs import Expected, Known
from support.random_rows import Row
from support.zones import on_the_wall, zone

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


def phone_load_hourly(source: Known) -> Expected:
    """Return the calls of the last 13 weeks that were in progress at once, and the minutes that were spoken."""
    expected: dict[Any, dict[str, Any]] = {}
    for practice in source.practices:
        calls = [row for row in source.rows("phone_calls") if row["practice_id"] == practice.id]
        now = on_the_wall(source.as_of(practice.id), practice.time_zone)
        if not calls or now is None:
            continue
        first = max(min(row["call_date"] for row in calls), practice.history_start)
        first = max(first, now.date() - timedelta(days=91))
        days = [first + timedelta(days=number) for number in range((now.date() - first).days)]
        recent = [row for row in calls if row["call_date"] in days]
        by_cell: dict[Any, list[Row]] = defaultdict(list)
        for row in recent:
            by_cell[row["call_date"].isoweekday(), row["called_at_local"].hour].append(row)
        for (weekday, hour_of_day), rows in by_cell.items():
            peaks = {day: 0 for day in days if day.isoweekday() == weekday}
            for row in rows:
                peaks[row["call_date"]] = max(peaks[row["call_date"]], calls_with(row, recent))
            minutes = sum(row["duration_seconds"] or 0 for row in rows if row["state"] in ANSWERED) / 60
            expected[practice.id, weekday, hour_of_day] = {
                "days": len(peaks),
                "calls": len(rows),
                "staff_minutes": minutes,
                "staff_hours_needed": minutes / 60 / len(peaks),
                "usual_at_once": float(median(peaks.values())),
                "most_at_once": max(peaks.values()),
            }
    return expected


def calls_with(call: Row, others: list[Row]) -> int:
    """Return how many calls are in progress in the minute in which a call begins."""
    begun = call["called_at_local"]
    lasting = [(row["called_at_local"], math.ceil((row["duration_seconds"] or 0) / 60)) for row in others]
    return sum(start <= begun < start + timedelta(minutes=max(minutes, 1)) for start, minutes in lasting)


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
