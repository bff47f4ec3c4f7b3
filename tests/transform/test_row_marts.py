"""The marts with one row per thing: nothing lost, nothing twice, and every time told in two ways."""

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from support.random_rows import SOURCE_CLOCK, ZONES, Tables

Query = Callable[[str], list[tuple[Any, ...]]]

MARTS = {
    "phone_calls": ("call_key", "phone_calls", "call_key"),
    "booking_sessions": ("session_id", "booking_sessions", "id"),
    "appointments": ("appointment_id", "appointments", "id"),
    "outreach_requests": ("request_id", "ai_outbound_requests", "id"),
    "staff_tasks": ("task_id", "staff_tasks", "id"),
    "clients": ("client_id", "clients", "id"),
    "patients": ("patient_id", "patients", "id"),
}


@pytest.mark.parametrize("mart", MARTS)
def test_a_mart_holds_each_row_that_the_source_still_has(mart: str, rows: Tables, query: Query) -> None:
    key, table, raw_key = MARTS[mart]
    expected = [(row["practice_id"], row[raw_key]) for row in rows[table] if row["_deleted_at"] is None]

    assert sorted(expected) == sorted(query(f"select practice_id, {key} from marts.{mart}"))


@pytest.mark.parametrize(
    ("mart", "column"),
    [
        ("booking_sessions", "created_at"),
        ("booking_sessions", "updated_at"),
        ("booking_sessions", "last_activity_at"),
        ("appointments", "created_at"),
        ("appointments", "booking_date"),
        ("outreach_requests", "contacted_at"),
        ("outreach_requests", "completed_at"),
        ("staff_tasks", "finalized_at"),
    ],
)
def test_a_time_is_told_as_an_instant_and_on_the_practices_clock(
    mart: str, column: str, rows: Tables, query: Query
) -> None:
    key, table, raw_key = MARTS[mart]
    instants = {(row["practice_id"], row[raw_key]): row[column] for row in rows[table]}
    found = query(f"select practice_id, {key}, {column}, {column}_local from marts.{mart}")

    for practice, row_id, instant, local in found:
        zone = ZONES.get(practice)
        expected = instants[practice, row_id]
        assert expected == instant
        assert local == (expected.astimezone(ZoneInfo(zone)).replace(tzinfo=None) if zone and expected else None)


def test_calls_keep_the_day_and_the_minute_of_the_source(rows: Tables, query: Query) -> None:
    """Also for a practice that is configured no more: the CSV tells them in the practice's own time."""
    expected = {
        row["call_key"]: (row["call_date"], row["called_at_local"], row["called_at"], row["created_at"])
        for row in rows["phone_calls"]
        if row["_deleted_at"] is None
    }
    found = query("select call_key, day, called_at_local, called_at, created_at from marts.phone_calls")

    assert expected == {call_key: tuple(times) for call_key, *times in found}


def test_an_appointment_is_booked_via_the_session_that_names_it(rows: Tables, query: Query) -> None:
    sessions = [row for row in rows["booking_sessions"] if row["_deleted_at"] is None]
    named = {
        (row["practice_id"], row[column])
        for row in sessions
        for column in ("appointment_id", "remote_appointment_id")
        if row[column]
    }
    found = query(
        "select practice_id, appointment_id, remote_appointment_id, booked_via, attribution"
        " from marts.appointments"
    )

    for practice, appointment_id, remote_id, booked_via, attribution in found:
        is_named = not named.isdisjoint({(practice, appointment_id), (practice, remote_id)})
        assert is_named == (booked_via == "session") == (attribution == "exact")


def test_every_way_to_an_appointment_occurs(query: Query) -> None:
    found = query("select distinct booked_via, attribution from marts.appointments")

    assert {("session", "exact"), (None, None)} <= set(found)


def test_practices_tell_how_far_the_data_reaches(query: Query) -> None:
    """The one without data is there too."""
    found = query("select practice_id, as_of, today from marts.practices")
    zones = {**ZONES, "empty": "Europe/London"}

    assert {
        (practice, SOURCE_CLOCK, SOURCE_CLOCK.astimezone(ZoneInfo(zone)).date())
        for practice, zone in zones.items()
    } == set(found)
