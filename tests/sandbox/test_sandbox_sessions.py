"""The world's booking sessions, and readings that the contract leaves open."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest
from support.partner_side import Partner, Row

ALL = {"start_date": "2025-01-01"}


def by_id(rows: Iterable[Row]) -> dict[str, Row]:
    return {row["id"]: row for row in rows}


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_the_pages_together_are_the_truth(partner: Partner) -> None:
    assert by_id(partner.everything("booking_sessions", **ALL)) == by_id(partner.truth("booking_sessions"))


def test_a_range_without_start_is_a_400(partner: Partner) -> None:
    assert partner.fields_at_fault("booking_sessions") == ["start_date"]


def test_a_bound_that_is_no_time_is_a_400(partner: Partner) -> None:
    assert partner.fields_at_fault("booking_sessions", start_date="soon", end_date="later") == [
        "start_date",
        "end_date",
    ]


def test_an_offset_in_a_bound_counts(partner: Partner) -> None:
    start = sorted(row["updated_at"] for row in partner.truth("booking_sessions"))[-5]
    elsewhere = instant(start).astimezone(partner.platform.practices[2].zone).isoformat()
    assert len(partner.everything("booking_sessions", start_date=elsewhere)) == 5


def test_an_unknown_status_is_a_400(partner: Partner) -> None:
    assert partner.fields_at_fault("booking_sessions", status="asleep", **ALL) == ["status"]


def test_completed_means_that_there_is_an_appointment(partner: Partner) -> None:
    appointments = by_id(partner.truth("appointments"))
    for session in partner.truth("booking_sessions"):
        assert (session["status"] == "completed") == (session["appointment_id"] is not None)
        if session["appointment_id"]:
            appointment = appointments[session["appointment_id"]]
            assert appointment["created_at"] >= session["created_at"]
            assert appointment["referral_source"] == session["referral_source"]


def test_an_active_session_expires_without_its_updated_at_moving(partner: Partner) -> None:
    partner.platform.advance(timedelta(hours=1))
    active = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    before = partner.page(f"booking_sessions/{active}")
    partner.platform.advance(timedelta(minutes=31))
    after = partner.page(f"booking_sessions/{active}")
    assert (before["status"], after["status"]) == ("active", "abandoned")
    assert before["updated_at"] == after["updated_at"]


def test_drawn_sessions_expire_too(partner: Partner) -> None:
    """Nothing is written here: a session of the world itself goes from active to abandoned."""
    seen: dict[str, Row] = {}
    for _ in range(200):
        partner.platform.advance(timedelta(minutes=10))
        for session in partner.everything("booking_sessions", start_date="2026-01-15T17:00:00Z"):
            known = seen.setdefault(session["id"], session)
            if known["status"] == "active" and session["status"] == "abandoned":
                assert known["updated_at"] <= session["updated_at"]
                return
            seen[session["id"]] = session
    pytest.fail("no session expired in a day and a half")


def test_some_sessions_complete_hours_after_they_began(partner: Partner) -> None:
    late = [
        session
        for session in partner.truth("booking_sessions")
        if session["appointment_id"]
        and instant(session["last_activity_at"]) - instant(session["created_at"]) > timedelta(hours=1)
    ]
    assert late


def test_sources_are_missing_empty_and_given(partner: Partner) -> None:
    sources = {session["referral_source"] for session in partner.truth("booking_sessions")}
    assert {None, "", "google"} <= sources


def test_there_are_several_stages(partner: Partner) -> None:
    stages = {session["stage"] for session in partner.truth("booking_sessions")}
    assert "started" in stages
    assert len(stages) > 3
