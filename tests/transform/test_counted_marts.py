"""Stages, hours of the week, suppressions, turnaround and the calendar, cell by cell, against plain Python."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from support.cells import Query, assert_equal, cells, count, groups, hours, local_day, median_of, rate
from support.random_rows import PRACTICES, SOURCE_CLOCK, ZONES, Row, Tables

from pipelines.partner.models import Appointment, BookingSession, Known, OutboundRequest, PhoneCall, StaffTask

OPEN = (8, 18, 6)
"""From hour to hour, on how many days of the week from Monday: the project's defaults."""


def seen(rows: Tables, table: str) -> dict[tuple[str, str], list[Row]]:
    """All versions of each row, the oldest first."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    versions = [*rows[f"history.{table}"], *({**row, "_valid_from": row["_loaded_at"]} for row in rows[table])]
    for row in sorted(versions, key=lambda row: row["_valid_from"]):
        found[row["practice_id"], row["id"]].append(row)
    return found


def stage_order(rows: Tables) -> list[str]:
    """The stages in order, or nothing where any two are in doubt."""
    before: Counter[tuple[str, str]] = Counter()
    stages = set[str]()
    for versions in seen(rows, "booking_sessions").values():
        staged = [row["stage"] for row in versions if row["stage"]]
        stages.update(staged)
        before.update((a, b) for i, a in enumerate(staged) for b in staged[i + 1 :] if a != b)
    known = {(a, b) for (a, b), times in before.items() if times > before[b, a]}
    for middle in stages:
        known |= {(a, b) for a in stages for b in stages if {(a, middle), (middle, b)} <= known}
    if any(((a, b) in known) == ((b, a) in known) for a in stages for b in stages if a != b):
        return []
    return sorted(stages, key=lambda stage: sum(later == stage for _, later in known))


def test_booking_funnel_stages(rows: Tables, query: Query) -> None:
    order = stage_order(rows)
    expected: dict[Any, tuple[Any, ...]] = {}
    for (practice, day), sessions in groups(rows["booking_sessions"], local_day).items():
        at = Counter(row["stage"] or None for row in sessions)
        done = Counter(row["stage"] or None for row in sessions if row["status"] == "completed")
        farthest = max((order.index(stage) for stage in at if stage), default=-1)
        for place, stage in enumerate(order[: farthest + 1]):
            later = sum(at[name] for name in order[place + 1 :])
            reached, continued = at[stage] + later, done[stage] + later
            lost = rate(reached - continued, reached)
            expected[practice, day, stage] = (place + 1, at[stage], reached, continued, lost)
        if at[None]:
            expected[practice, day, None] = (None, at[None], None, None, None)

    assert len(order) == 4
    assert_equal(expected, cells(query("select * from marts.booking_funnel_stages"), key_width=3))


def wall_hours(practice: str, rows: Tables) -> Counter[tuple[int, int]]:
    """The hours from the first call to the last sync, by their names on the wall clock."""
    calls = [row for row in rows["phone_calls"] if row["practice_id"] == practice and not row["_deleted_at"]]
    hour = min(row["called_at"] for row in calls).replace(minute=0)
    found = Counter[tuple[int, int]]()
    while hour <= SOURCE_CLOCK:
        local = hour.astimezone(ZoneInfo(ZONES[practice]))
        found[local.isoweekday(), local.hour] += 1
        hour += timedelta(hours=1)
    return found


def test_booking_intent_hourly(rows: Tables, query: Query) -> None:
    calls: dict[Any, list[Row]] = defaultdict(list)
    for row in rows["phone_calls"]:
        if not row["_deleted_at"]:
            local = row["called_at_local"]
            calls[row["practice_id"], local.isoweekday(), local.hour].append(row)
    passed = {(practice, *name): times for practice in ZONES for name, times in wall_hours(practice, rows).items()}
    expected: dict[Any, tuple[Any, ...]] = {}
    for key in calls.keys() | passed.keys():
        wanted = [row for row in calls[key] if row["booking_intent"]]
        booked = count(wanted, lambda row: row["booked"])
        expected[key] = (
            len(calls[key]),
            len(wanted),
            count(calls[key], lambda row: row["booked"]),
            booked,
            rate(len(wanted), len(calls[key])),
            rate(booked, len(wanted)),
            len(wanted) - booked,
            passed.get(key, 0),
        )

    assert_equal(expected, cells(query("select * from marts.booking_intent_hourly"), key_width=3))


def test_outreach_suppressions_daily(rows: Tables, query: Query) -> None:
    stopped = [row for row in rows["ai_outbound_requests"] if row["status"] == "suppressed"]
    found = groups(stopped, local_day, "purpose", "suppression_reason")

    assert_equal(
        {key: (len(requests),) for key, requests in found.items()},
        cells(query("select * from marts.outreach_suppressions_daily"), key_width=4),
    )


def open_hours(start: datetime | None, end: datetime | None) -> float | None:
    """Opening hours between two times of the wall clock, day by day."""
    if start is None or end is None:
        return None
    opens, closes, days = OPEN
    total, day = 0.0, start.date()
    while day <= end.date():
        if day.isoweekday() <= days:
            first = max(start, datetime.combine(day, time(opens)))
            last = min(end, datetime.combine(day, time(closes)))
            total += max((last - first) / timedelta(hours=1), 0)
        day += timedelta(days=1)
    return total


def on_the_wall(row: Row, column: str) -> datetime | None:
    zone = ZONES.get(row["practice_id"])
    return row[column].astimezone(ZoneInfo(zone)).replace(tzinfo=None) if zone and row[column] else None


def test_staff_task_turnaround_daily(rows: Tables, query: Query) -> None:
    final = {"completed", "canceled"}
    reopened = {
        key
        for key, versions in seen(rows, "staff_tasks").items()
        if any(a["status"] in final and b["status"] not in final for a, b in pairwise(versions))
    }
    expected: dict[Any, tuple[Any, ...]] = {}
    for key, tasks in groups(rows["staff_tasks"], local_day, "task_type").items():
        local = [(on_the_wall(row, "created_at"), on_the_wall(row, "finalized_at")) for row in tasks]
        expected[key] = (
            len(tasks),
            *(
                count(tasks, lambda row, s=status: row["status"] == s)
                for status in ("completed", "canceled", "pending")
            ),
            median_of(hours(row["created_at"], row["finalized_at"]) for row in tasks),
            median_of(open_hours(*times) for times in local),
            count(tasks, lambda row: (row["practice_id"], row["id"]) in reopened),
        )

    assert reopened
    assert_equal(expected, cells(query("select * from marts.staff_task_turnaround_daily"), key_width=3))


def test_practice_days(query: Query) -> None:
    """Every day once, those of spring and autumn included."""
    expected: dict[Any, tuple[Any, ...]] = {}
    for practice in PRACTICES:
        zone = ZoneInfo(practice.time_zone)
        day = practice.history_start
        while day <= SOURCE_CLOCK.astimezone(zone).date():
            after = day + timedelta(days=1)
            start, end = (datetime.combine(at, time(), zone).astimezone(UTC) for at in (day, after))
            monday = day - timedelta(days=day.isoweekday() - 1)
            first = date(day.year, day.month, 1)
            length = (end - start) / timedelta(hours=1)
            expected[practice.id, day] = (day.isoweekday(), monday, first, length, end <= SOURCE_CLOCK, start, end)
            day = after

    assert {23.0, 24.0, 25.0} == {cell[3] for cell in expected.values()}
    assert_equal(expected, cells(query("select * from marts.practice_days"), key_width=2))


def test_booking_intent_restatements(rows: Tables, query: Query) -> None:
    """What a report a day after the day's end could have said, against what is known now."""
    versions: dict[Any, list[tuple[Row, datetime, datetime | None]]] = defaultdict(list)
    for row in rows["history.phone_calls"]:
        versions[row["practice_id"], row["call_date"]].append((row, row["_valid_from"], row["_valid_to"]))
    for row in rows["phone_calls"]:
        versions[row["practice_id"], row["call_date"]].append((row, row["_loaded_at"], row["_deleted_at"]))
    expected: dict[Any, tuple[Any, ...]] = {}
    for (practice, day), seen_on in versions.items():
        end = None
        if practice in ZONES:
            end = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(ZONES[practice])).astimezone(UTC)
        then: tuple[int | None, ...] = (None, None, None)
        if end and end <= SOURCE_CLOCK and min(since for _, since, _ in seen_on) <= end + timedelta(days=1):
            report = end + timedelta(days=1)
            then = three_counts(
                row for row, since, until in seen_on if since <= report and not (until and until <= report)
            )
        now = three_counts(row for row, _, until in seen_on if not until)
        moved = None if then[0] is None else then != now
        expected[practice, day] = (then[0], now[0], then[1], now[1], then[2], now[2], moved)

    assert {True, False, None} == {cell[-1] for cell in expected.values()}
    assert_equal(expected, cells(query("select * from marts.booking_intent_restatements"), key_width=2))


def three_counts(calls: Iterable[Row]) -> tuple[int, int, int]:
    found = list(calls)
    return len(found), count(found, lambda row: row["booking_intent"]), count(found, lambda row: row["booked"])


def test_unknown_values(rows: Tables, query: Query) -> None:
    """The values that the models of the interface name, and the marts' list of them, are the same."""
    expected = Counter[tuple[Any, ...]]()
    for mart, table, model in (
        ("phone_calls", "phone_calls", PhoneCall),
        ("booking_sessions", "booking_sessions", BookingSession),
        ("appointments", "appointments", Appointment),
        ("outreach_requests", "ai_outbound_requests", OutboundRequest),
        ("staff_tasks", "staff_tasks", StaffTask),
    ):
        listed = {
            name: known_values(field.metadata) | SHOWN.get((mart, name), set())
            for name, field in model.model_fields.items()
        }
        for row in rows[table]:
            for field, values in listed.items():
                if not row["_deleted_at"] and row.get(field) and field in ENUMS and row[field] not in values:
                    expected[row["practice_id"], mart, field, row[field]] += 1

    found = query("select * from marts.unknown_values")
    assert dict(expected) == {(*key, value): times for *key, value, times in found}


ENUMS = {
    *("direction", "state", "caller_type", "call_classification", "outcome", "customer_sentiment"),
    *("status", "stage", "client_type", "channel", "purpose", "suppression_reason", "task_type"),
}


SHOWN = {
    ("appointments", "status"): {"REQUESTED", "ACCEPTED", "CONFIRMED"},
    ("booking_sessions", "stage"): {"started"},
}
"""What the interface shows where it lists no values."""


def known_values(metadata: Iterable[Any]) -> set[str]:
    return {value for item in metadata if isinstance(item, Known) for value in item.values}
