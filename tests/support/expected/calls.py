"""The marts of calls, implemented a second time from their definitions: intent, endings, load, and predictions."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import timedelta
from statistics import median
from typing import Any

from support.booking_requests import intent_of
from support.cells import count, groups, rate
from support.expected.practice import practice_days
from support.expected.rows import ANSWERED, ending, is_open
from support.mart_inputs import Expected, Known
from support.random_rows import Row
from support.random_rows_beside import MEASURES
from support.zones import on_the_wall, zone

QUARTER = timedelta(minutes=15)
Hour = tuple[Any, ...]
"""A practice, a day of the week from 1, and an hour."""
KINDS = ("direction", "caller_type", "call_classification")


def booking_intent_daily(source: Known) -> Expected:
    days = groups(source.rows("phone_calls"), lambda row: row["call_date"], *KINDS)
    return {key: intent(calls) for key, calls in days.items()}


def intent(calls: list[Row]) -> tuple[Any, ...]:
    wanted = [row for row in calls if row["booking_intent"]]
    booked = count(wanted, lambda row: row["booked"])
    return (
        len(calls),
        len(wanted),
        count(calls, lambda row: row["booked"]),
        booked,
        rate(len(wanted), len(calls)),
        rate(booked, len(wanted)),
        len(wanted) - booked,
        *new_bookings(calls),
    )


def new_bookings(calls: list[Row]) -> tuple[Any, ...]:
    """Return the answered calls, and those that wanted a new appointment and got one."""
    new = [row for row in calls if intent_of(row) == "new_booking"]
    booked = count(new, lambda row: row["booked"])
    return (
        count(calls, lambda row: row["state"] in {"completed", "in_progress"}),
        len(new),
        booked,
        rate(booked, len(new)),
        count(new, lambda row: row["booking_intent"] and not row["booked"]),
    )


def booking_intent_hourly(source: Known) -> Expected:
    calls: dict[Hour, list[Row]] = defaultdict(list)
    for row in source.rows("phone_calls"):
        local = row["called_at_local"]
        calls[row["practice_id"], local.isoweekday(), local.hour].append(row)
    passed = {
        (practice.id, *name): times
        for practice in source.practices
        for name, times in wall_hours(source, practice.id, practice.time_zone).items()
    }
    return {key: hour(calls.get(key, []), passed.get(key, 0)) for key in calls.keys() | passed.keys()}


def hour(calls: list[Row], times: int) -> tuple[Any, ...]:
    """Return a cell of the week: without a rate of new bookings, with the missed inbound calls."""
    *counts, answered, new, booked, _, missed = intent(calls)
    inbound = [row for row in calls if row["direction"] == "inbound"]
    *_, inbound_answered, _, _, _, inbound_missed = intent(inbound)
    return (*counts, answered, new, booked, missed, len(inbound) - inbound_answered, inbound_missed, times)


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

    def day(row: Row) -> tuple[Any, ...]:
        return row["call_date"], is_open(row)

    return {key: endings(rows) for key, rows in inbound_by(source, day).items()}


def calls_hourly(source: Known) -> Expected:
    """Return whether inbound calls were answered, by day and hour of the wall clock."""
    hours: dict[Any, list[Row]] = defaultdict(list)
    for row in source.rows("phone_calls"):
        if row["direction"] == "inbound":
            hours[row["practice_id"], row["call_date"], row["called_at_local"].hour].append(row)
    return {key: answers(calls) for key, calls in hours.items()}


ENDED = ("calls", "resolved", "handed_over", "lost", "containment_rate")


def answers(calls: list[Row]) -> dict[str, Any]:
    ended = {name: endings(calls)[name] for name in ENDED}
    answered = count(calls, lambda row: row["state"] in ANSWERED)
    return {
        "is_open": any(map(is_open, calls)),
        "answered": answered,
        "unanswered": len(calls) - answered,
        "answered_rate": rate(answered, len(calls)),
        **ended,
    }


def inbound_by(source: Known, time: Callable[[Row], tuple[Any, ...]]) -> dict[Any, list[Row]]:
    calls: dict[Any, list[Row]] = defaultdict(list)
    for row in source.rows("phone_calls"):
        if row["direction"] == "inbound":
            calls[row["practice_id"], *time(row), row["call_classification"] or None].append(row)
    return calls


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


def calls_forecast(source: Known) -> Expected:
    over = {key for key, row in practice_days(source).items() if tuple(row)[4]}
    counted = _counted(source)
    newest: dict[Any, Row] = {}
    for row in sorted(source.tables.get("control.forecasts", ()), key=lambda row: row["made_at"]):
        newest[row["practice_id"], row["day"], row["hour"]] = row
    return {key: _shown(row, counted[key] if key[:2] in over else None) for key, row in newest.items()}


def _counted(source: Known) -> dict[Any, dict[str, Any]]:
    hours: dict[Any, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(MEASURES, 0))
    for row in source.rows("phone_calls"):
        if row["direction"] == "inbound":
            hour = hours[row["practice_id"], row["call_date"], row["called_at_local"].hour]
            hour["calls"] += 1
            hour["bookable_calls"] += intent_of(row) == "new_booking"
            if row["state"] in ANSWERED:
                hour["staff_minutes"] += (row["duration_seconds"] or 0) / 60
    return hours


def _shown(row: Row, counted: dict[str, Any] | None) -> dict[str, Any]:
    shown = {name: row[name] for name in ("made_on", "made_at", "weeks")}
    for measure in MEASURES:
        ends = {f"{measure}_{name}": row[f"{measure}_{name}"] for name in ("low", "high", "naive")}
        shown |= {f"{measure}_expected": row[measure], **ends}
        shown[f"{measure}_counted"] = counted[measure] if counted else None
    return {"weekday": row["day"].isoweekday(), **shown, "is_over": counted is not None}


def calls_forecast_scores(source: Known) -> Expected:
    weeks: dict[Any, list[tuple[bool, float, float]]] = defaultdict(list)
    for (practice, day, _), found in calls_forecast(source).items():
        row = dict(found)
        for measure in MEASURES if row["is_over"] else ():
            count, low, high = (row[f"{measure}_{name}"] for name in ("counted", "low", "high"))
            errors = (abs(count - row[f"{measure}_{name}"]) for name in ("expected", "naive"))
            week = day - timedelta(days=day.weekday())
            weeks[practice, week, measure].append((low <= count <= high, *errors))
    return {key: _scored(hours) for key, hours in weeks.items()}


def _scored(hours: list[tuple[bool, float, float]]) -> dict[str, Any]:
    within, error, naive = (sum(column) for column in zip(*hours, strict=True))
    return {
        "hours": len(hours),
        "hours_within": within,
        "coverage": rate(int(within), len(hours)),
        "error": error,
        "naive_error": naive,
        "error_beside_naive": error / naive if naive else None,
    }
