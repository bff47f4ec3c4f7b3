"""Contract: Phone call record; Get a phone call. Booking session; its derived status; the two endpoints."""

import pytest
from support.partner_side import Partner, Row, by_id

BOOKED = {"appointment_booked", "appointment_rescheduled", "appointment_confirmed"}


@pytest.fixture
def calls(partner: Partner) -> list[Row]:
    records = partner.everything("phone_calls")
    assert records
    return records


def test_booked_and_booking_intent_follow_from_the_call(calls: list[Row]) -> None:
    """They do so for historical calls, too; other calls have an intent if a scheduling tool was used."""
    others: set[bool] = set()
    for call in calls:
        assert call["booked"] == (call["outcome"] in BOOKED)
        if call["booked"] or call["call_classification"] == "scheduling":
            assert call["booking_intent"]
        else:
            others.add(call["booking_intent"])
    assert others == {True, False}


def test_unknown_callers_were_never_matched_to_a_client(calls: list[Row]) -> None:
    assert all((call["client_id"] is None) == (call["caller_type"] == "unknown") for call in calls)


def test_a_new_client_has_had_no_visit_before_the_call(partner: Partner, calls: list[Row]) -> None:
    """The telephone number shows who has had a visit by now; the client's remote id is that of the visit."""
    visits = partner.everything("appointments", start_date="2025-01-01")
    kept = sorted((row["booking_date"], row["client_phone"]) for row in visits if row["status"] == "COMPLETED")
    first = {phone: at for at, phone in reversed(kept)}
    new = [call for call in calls if call["caller_type"] == "new"]
    assert new
    assert all(call["created_at"] <= first.get(call["phone_number"], call["created_at"]) for call in new)
    of_phone = {call["phone_number"]: call["remote_client_id"] for call in calls if call["client_id"]}
    shared = [row for row in visits if row["client_phone"] in of_phone]
    assert shared
    assert all(row["remote_client_id"] == of_phone[row["client_phone"]] for row in shared)


def test_a_call_names_its_client_and_patient(partner: Partner, calls: list[Row]) -> None:
    for call in [call for call in calls if call["client_id"]][:10]:
        client = partner.page(f"clients/{call['client_id']}")
        assert client["name"] == call["client_name"]
        pets = {patient["id"]: patient["name"] for patient in client["patients"]}
        assert pets.get(call["patient_id"]) == call["patient_name"]


@pytest.mark.parametrize("practice", ["loc-001", "loc-004"])
def test_a_call_names_its_practice_and_its_server(partner: Partner, practice: str) -> None:
    """The fourth practice has no server id."""
    partner.act_for(practice)
    here = next(one for one in partner.platform.practices if one.id == practice)
    named = [call for call in partner.everything("phone_calls") if call["client_id"]]
    assert {call["remote_client_id"].partition("-")[2] for call in named} == {here.server_id or ""}
    assert {call["practice_name"] for call in named} == {here.name}


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
