"""Contract: Booking session; its derived status; the two endpoints."""

from datetime import datetime, timedelta

from support.contract_breaks import shows
from support.partner_side import Partner, Row
from support.rows_by_id import by_id
from support.rules import broken_by, rule

ALL = {"start_date": "2025-01-01"}
LIST = "Endpoints / Booking sessions"


def every_session(partner: Partner, **query: str) -> list[Row]:
    sessions = partner.everything("booking_sessions", **ALL, **query)
    assert sessions
    return sessions


@rule("States / Booking session", says="completed")
@broken_by(shows("booking_sessions", appointment_id=None))
def test_completed_means_a_booked_appointment(partner: Partner) -> None:
    visits = by_id(partner.everything("appointments", **ALL))
    for session in every_session(partner):
        assert (session["status"] == "completed") == (session["appointment_id"] is not None)
        assert session["appointment_id"] is None or session["appointment_id"] in visits


@rule("States / Booking session", says="active, then abandoned; active while in progress")
@broken_by(shows("booking_sessions/*", status="active"))
def test_a_session_without_appointment_expires(partner: Partner) -> None:
    """The contract does not show the time: after two days at most, not within a minute."""
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    seen: list[str] = []
    for minutes in (1, 2 * 24 * 60):
        partner.later(minutes=minutes)
        seen.append(partner.page(f"booking_sessions/{row}")["status"])
    assert seen == ["active", "abandoned"]


@rule("States / Booking session", says="completed for good")
@broken_by(shows("booking_sessions/*", status="abandoned"))
def test_a_session_with_an_appointment_does_not_expire(partner: Partner) -> None:
    visit = partner.everything("appointments", **ALL)[0]["id"]
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started", "appointment_id": visit})
    for hours in (0, 100):
        partner.later(hours=hours)
        assert partner.page(f"booking_sessions/{row}")["status"] == "completed"


@rule("States / Booking session")
@broken_by(shows("booking_sessions", last_activity_at="2025-01-01T00:00:00Z"))
def test_active_sessions_have_been_active_of_late(partner: Partner) -> None:
    partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    active = every_session(partner, status="active")
    oldest = min(datetime.fromisoformat(session["last_activity_at"]) for session in active)
    assert partner.platform.now() - oldest < timedelta(days=2)
