"""Counts of a practice by day and by week, and the counts that a report of the day could have shown."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from support.booking_requests import intent_of
from support.cells import count
from support.episodes import LAST
from support.expected.booking_requests import day_of, episodes, is_anonymous, requests_by_practice
from support.expected.practice import practice_days
from support.expected.rows import callers as identified
from support.mart_inputs import Expected, Known, once_for_each
from support.random_rows import Row
from support.zones import day_after, midnight

SMALL = 30
WEEK = timedelta(days=7)
Key = tuple[str, date | None]
CALLERS = (
    "unique_callers",
    "new_booking_callers",
    "booked_within_7_days",
    "missed_callers",
    "recovered_within_7_days",
)
COUNTS = (
    "calls", "answered_calls", "new_booking_intent_calls", "missed_new_booking_calls", "sessions",
    "completed", "outreach_requests", "contacted", "booked", "tasks_created", "tasks_completed", "leaks",
    "inbound_calls", "answered_inbound_calls", "anonymous_not_booked",
)  # fmt: skip


def is_new(call: Row) -> bool:
    return intent_of(call) == "new_booking"


def is_missed(call: Row) -> bool:
    return is_new(call) and bool(call["booking_intent"]) and not call["booked"]


AREAS: tuple[tuple[str, str, Callable[[Row], Any]], ...] = (
    ("calls", "phone_calls", lambda _: True),
    ("answered_calls", "phone_calls", lambda row: row["state"] in {"completed", "in_progress"}),
    ("inbound_calls", "phone_calls", lambda row: row["direction"] == "inbound"),
    (
        "answered_inbound_calls",
        "phone_calls",
        lambda row: row["direction"] == "inbound" and row["state"] in {"completed", "in_progress"},
    ),
    ("new_booking_intent_calls", "phone_calls", is_new),
    ("missed_new_booking_calls", "phone_calls", is_missed),
    ("sessions", "booking_sessions", lambda _: True),
    ("completed", "booking_sessions", lambda row: row["status"] == "completed"),
    ("outreach_requests", "ai_outbound_requests", lambda _: True),
    ("contacted", "ai_outbound_requests", lambda row: row["contacted_at"]),
    ("booked", "ai_outbound_requests", lambda row: row["outcome"] == "booked"),
    ("tasks_created", "staff_tasks", lambda _: True),
    ("tasks_completed", "staff_tasks", lambda row: row["status"] == "completed"),
)


def counted_by_day(source: Known) -> dict[Key, Counter[str]]:
    """Return the counts of each day that is over or has begun, and of rows without a day."""
    counts: dict[Key, Counter[str]] = defaultdict(Counter)
    for practice, day in practice_days(source):
        counts[practice, day] = Counter()
    for name, table, condition in AREAS:
        for row in source.rows(table):
            day = row["call_date"] if table == "phone_calls" else source.day(row)
            counts[row["practice_id"], day][name] += bool(condition(row))
    for practice, one in episodes(source):
        if one.contacts[0].begun_by == "client":
            here = counts[practice, day_of(source, practice, one)]
            here["leaks"] += one.booking is None
            here["anonymous_not_booked"] += one.booking is None and is_anonymous(one)
    return counts


def callers(source: Known, period: Callable[[date], date]) -> dict[Key, dict[str, int]]:
    """Return the number of callers of each day or week who wanted a new appointment, and of those who got it."""
    kinds: dict[Key, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for practice, day, person, calls in by_caller(source):
        here, booked = kinds[practice, period(day)], bookings(source)[practice][person]
        wanted = [call["called_at"] for call in calls if is_new(call)]
        missed = [call["called_at"] for call in calls if is_missed(call)]
        facts = {
            "unique_callers": True,
            "new_booking_callers": wanted,
            "booked_within_7_days": in_a_week(wanted, booked),
            "missed_callers": missed,
            "recovered_within_7_days": in_a_week(missed, booked),
        }
        for name, holds in facts.items():
            here[name] |= {person} if holds else set()
    return {key: {name: len(sets[name]) for name in CALLERS} for key, sets in kinds.items()}


def new_booking_callers(source: Known) -> Expected:
    """Return the callers of each day who wanted a new appointment, and what became of their booking request."""
    expected: Expected = {}
    people = identified(source)
    for practice, day, person, calls in by_caller(source):
        wanted = [call["called_at"] for call in calls if is_new(call)]
        missed = [call["called_at"] for call in calls if is_missed(call)]
        key = min(people[practice, call["call_key"]]["caller_key"] or call["call_key"] for call in calls)
        booked = bookings(source)[practice][person]
        if wanted:
            expected[practice, day, key] = {
                "wanted_at": min(wanted),
                "missed_at": min(missed, default=None),
                "is_missed": bool(missed),
                "is_booked_within_7_days": in_a_week(wanted, booked),
                "is_recovered_within_7_days": in_a_week(missed, booked),
            }
    return expected


def in_a_week(since: list[datetime], booked: list[datetime]) -> bool:
    return bool(since) and any(timedelta() <= at - min(since) <= WEEK for at in booked)


@once_for_each
def by_caller(source: Known) -> list[tuple[str, date, str, list[Row]]]:
    """Return the inbound calls of each practice, day and caller."""
    calls: dict[tuple[str, date, str], list[Row]] = defaultdict(list)
    for practice, known in requests_by_practice(source).items():
        for call in known.calls:
            if call["direction"] == "inbound":
                person = known.person(*known.caller(call)) or f"call:{call['call_key']}"
                calls[practice, call["call_date"], person].append(call)
    return [(*key, of_caller) for key, of_caller in calls.items()]


@once_for_each
def bookings(source: Known) -> dict[str, Mapping[str, list[datetime]]]:
    """Return the times at which each client or number was booked, in a contact or as an appointment."""
    by_practice: dict[str, Mapping[str, list[datetime]]] = {}
    for practice, known in requests_by_practice(source).items():
        by_person = by_practice[practice] = defaultdict[str, list[datetime]](list)
        for contact in known.contacts():
            if contact.booked_at:
                by_person[known.person_of(contact)].append(contact.booked_at)
        for row in known.appointments:
            person = known.person(*known.booked_for(row))
            if person and row["created_at"]:
                by_person[person].append(row["created_at"])
    return by_practice


def group_of(source: Known, practice: str) -> str | None:
    return next((one.group for one in source.practices if one.id == practice), None)


@once_for_each
def final_days(source: Known) -> set[Key]:
    """Return the days that ended at least two weeks ago."""
    return {key for key, row in practice_days(source).items() if tuple(row)[5]}


@once_for_each
def old_days(source: Known) -> set[Key]:
    """Return the days since whose end a week has passed."""
    return {key for key, row in practice_days(source).items() if tuple(row)[6]}


def monday(day: date) -> date:
    return day - timedelta(days=day.isoweekday() - 1)


def practice_daily(source: Known) -> Expected:
    return practice_by(source, lambda day: day)


def practice_weekly(source: Known) -> Expected:
    return practice_by(source, monday)


def practice_by(source: Known, period: Callable[[date], date]) -> Expected:
    """Return the counts of each day or week; it is final and old if each of its days is."""
    who = callers(source, period)
    nobody: dict[str, int] = dict.fromkeys(CALLERS, 0)
    counts: dict[Key, Counter[str]] = defaultdict(Counter)
    days: dict[Key, set[Key]] = defaultdict(set)
    for (practice, day), of_day in counted_by_day(source).items():
        key = practice, period(day) if day else None
        counts[key] += of_day
        days[key].add((practice, day))
    return {
        key: {
            **{name: of_key[name] for name in COUNTS},
            **who.get(key, nobody),
            "is_small_sample": of_key["calls"] < SMALL,
            "is_final": days[key] <= final_days(source),
            "group_name": group_of(source, key[0]),
            "is_seven_days_old": days[key] <= old_days(source),
        }
        for key, of_key in counts.items()
    }


Condition = Callable[[Row], Any]
CALLS: dict[str, Condition] = {
    "calls": lambda _: True,
    "intent_calls": lambda row: row["booking_intent"],
    "booked_calls": lambda row: row["booked"],
}
SESSIONS: dict[str, Condition] = {
    "sessions": lambda _: True,
    "completed": lambda row: row["status"] == "completed",
    "abandoned": lambda row: row["status"] == "abandoned",
    "active": lambda row: row["status"] == "active",
    "with_appointment": lambda row: row["appointment_id"] or row["remote_appointment_id"],
}


def report_revisions(source: Known) -> Expected:
    calls = seen_by_day(source, "phone_calls", lambda row: row["call_date"])
    sessions = seen_by_day(source, "booking_sessions", source.day)
    revisions: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for mart, days, conditions in (
        ("booking_intent_daily", calls, CALLS),
        ("booking_funnel_daily", sessions, SESSIONS),
    ):
        for key, seen in days.items():
            for measure, condition in conditions.items():
                revisions[*key, mart, measure] = then_and_now(source, key, seen, condition)
    return revisions


Seen = list[tuple[Row, datetime, datetime | None]]
"""Versions of rows, and the time during which each was vetl's latest knowledge."""


def seen_by_day(source: Known, table: str, day: Callable[[Row], date | None]) -> Mapping[Key, Seen]:
    versions: dict[Key, Seen] = defaultdict(list)
    for row in source.tables.get(f"history.{table}", ()):
        versions[row["practice_id"], day(row)].append((row, row["_valid_from"], row["_valid_to"]))
    for row in source.tables[table]:
        versions[row["practice_id"], day(row)].append((row, row["_loaded_at"], row["_deleted_at"]))
    return versions


def then_and_now(source: Known, key: Key, seen: Seen, condition: Condition) -> tuple[int | None, int]:
    practice_id, day = key
    name = source.zone_of(practice_id)
    now = count(rows_of(seen, lambda _, until: until is None), condition)
    end = midnight(day_after(day), name) if name and day else None
    reported_at = end + timedelta(hours=24) if end and end <= source.now else None
    if reported_at is None or min(since for _, since, _ in seen) > reported_at:
        return None, now
    then = rows_of(seen, lambda since, until: since <= reported_at < (until or LAST))
    return count(then, condition), now


def rows_of(seen: Seen, holds: Callable[[datetime, datetime | None], bool]) -> Iterable[Row]:
    return [row for row, since, until in seen if holds(since, until)]
