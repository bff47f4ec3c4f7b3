"""Contract: Booking session; its derived status; the two endpoints."""

from support.partner_side import Partner, by_id

ALL = {"start_date": "2025-01-01"}


def test_completed_means_a_booked_appointment(partner: Partner) -> None:
    visits = by_id(partner.everything("appointments", **ALL))
    for session in partner.everything("booking_sessions", **ALL):
        assert (session["status"] == "completed") == (session["appointment_id"] is not None)
        if session["appointment_id"]:
            visit = visits[session["appointment_id"]]
            assert visit["created_at"] >= session["created_at"]
            assert visit["referral_source"] == session["referral_source"]


def test_a_session_without_appointment_expires_without_its_updated_at_moving(partner: Partner) -> None:
    """The contract does not show the time: after two days at most, not within a minute."""
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    seen = []
    for minutes in (1, 2 * 24 * 60):
        partner.later(minutes=minutes)
        seen.append(partner.page(f"booking_sessions/{row}"))
    assert [session["status"] for session in seen] == ["active", "abandoned"]
    assert seen[0]["updated_at"] == seen[1]["updated_at"]


def test_a_session_with_an_appointment_does_not_expire(partner: Partner) -> None:
    visit = partner.everything("appointments", **ALL)[0]["id"]
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started", "appointment_id": visit})
    for hours in (0, 100):
        partner.later(hours=hours)
        assert partner.page(f"booking_sessions/{row}")["status"] == "completed"
