"""Contract: Phone call record; Get a phone call."""

from datetime import datetime

from support.contract_breaks import shows
from support.partner_side import Partner, Row
from support.rows_by_id import ISO
from support.rules import broken_by, rule

BOOKED = {"appointment_booked", "appointment_rescheduled", "appointment_confirmed"}


def calls(partner: Partner) -> list[Row]:
    records = partner.everything("phone_calls")
    assert records
    return records


@rule("Resources / Phone call record", says="confirmed")
@broken_by(shows("phone_calls", booked=False))
def test_booked_holds_with_the_three_outcomes(partner: Partner) -> None:
    assert all(call["booked"] == (call["outcome"] in BOOKED) for call in calls(partner))


@rule("Resources / Phone call record", says="classification")
@broken_by(shows("phone_calls", booking_intent=lambda call: call["booked"]))
def test_booking_intent_holds_for_scheduling(partner: Partner) -> None:
    scheduled = partner.everything("phone_calls", call_classification="scheduling")
    assert scheduled
    assert all(call["booking_intent"] for call in scheduled)


@rule("Resources / Phone call record", says="outcome")
@broken_by(shows("phone_calls", booking_intent=lambda call: not call["booked"]))
def test_booking_intent_is_true_if_an_appointment_was_booked(partner: Partner) -> None:
    booked = [call for call in calls(partner) if call["outcome"] in BOOKED]
    assert booked
    assert all(call["booking_intent"] for call in booked)


@rule("Resources / Phone call record", says="tool")
@broken_by(shows("phone_calls", booking_intent=False))
def test_booking_intent_is_true_if_a_scheduling_tool_was_used(partner: Partner) -> None:
    others = [
        call for call in calls(partner) if call["call_classification"] != "scheduling" and not call["booked"]
    ]
    assert {call["booking_intent"] for call in others} == {True, False}


@rule("Resources / Phone call record", says="historical")
@broken_by(shows("phone_calls", booking_intent=False))
def test_booking_intent_is_set_for_historical_calls_too(partner: Partner) -> None:
    historical = partner.everything("phone_calls", end_date="2025-12-31", call_classification="scheduling")
    assert historical
    assert all(call["booking_intent"] for call in historical)


@rule("Resources / Phone call record", says="unknown")
@broken_by(shows("phone_calls", caller_type="existing"))
def test_unknown_callers_were_never_matched_to_a_client(partner: Partner) -> None:
    assert all((call["client_id"] is None) == (call["caller_type"] == "unknown") for call in calls(partner))


@rule("Resources / Phone call record", says="new")
@broken_by(shows("phone_calls", caller_type="new"))
def test_a_new_client_has_had_no_visit_before_the_call(partner: Partner) -> None:
    """The telephone number shows who has had a visit by now."""
    visits = partner.everything("appointments", start_date="2025-01-01")
    kept = sorted((row["booking_date"], row["client_phone"]) for row in visits if row["status"] == "COMPLETED")
    first = {phone: at for at, phone in reversed(kept)}
    new = [call for call in calls(partner) if call["caller_type"] == "new"]
    assert new
    assert all(call["created_at"] <= first.get(call["phone_number"], call["created_at"]) for call in new)


@rule("Resources / Phone call record", says="client; patient")
@broken_by(shows("phone_calls", client_name="Nobody"), shows("phone_calls", patient_id="0"))
def test_a_call_names_its_client_and_patient(partner: Partner) -> None:
    named = [call for call in partner.page("phone_calls")["content"] if call["client_id"]][:10]
    for call in named:
        answer = partner.get(f"clients/{call['client_id']}")
        assert answer.status_code == 200
        client = answer.json()["data"]
        assert client["name"] == call["client_name"]
        pets = {patient["id"]: patient["name"] for patient in client["patients"]}
        assert pets.get(call["patient_id"]) == call["patient_name"]


@rule("Resources / Phone call record", says="practice_name")
@broken_by(shows("phone_calls", practice_name="loc-001"))
def test_a_call_names_its_practice(partner: Partner) -> None:
    names = {call["practice_name"] for call in partner.page("phone_calls")["content"]}
    assert names == {partner.platform.practices[0].name}


@rule("Resources / Phone call record", says="remote_client_id")
@broken_by(shows("phone_calls", remote_client_id="7"))
def test_remote_client_ids_are_qualified_with_the_server_id(partner: Partner) -> None:
    server = partner.platform.practices[0].server_id
    assert {call["remote_client_id"].partition("-")[2] for call in calls(partner) if call["client_id"]} == {server}


@rule("Resources / Phone call record", says="no server id")
@broken_by(shows("phone_calls", remote_client_id="7-100"))
def test_remote_client_ids_of_a_practice_without_server_id_are_plain(partner: Partner) -> None:
    partner.act_for("loc-004")
    assert all(call["remote_client_id"].isdigit() for call in calls(partner) if call["client_id"])


@rule("Resources / Phone call record", says="the same in appointments")
@broken_by(shows("phone_calls", remote_client_id="7"))
def test_appointments_have_the_same_remote_client_id(partner: Partner) -> None:
    """The telephone number identifies the client of both."""
    of_phone = {call["phone_number"]: call["remote_client_id"] for call in calls(partner) if call["client_id"]}
    visits = partner.everything("appointments", start_date="2025-01-01")
    shared = [row for row in visits if row["client_phone"] in of_phone]
    assert shared
    assert all(row["remote_client_id"] == of_phone[row["client_phone"]] for row in shared)


@rule("Resources / Phone call record", says="duration_seconds")
@broken_by(shows("phone_calls", duration_seconds=lambda call: str(call["duration_seconds"])))
def test_the_duration_is_a_whole_number_of_seconds(partner: Partner) -> None:
    durations = [call["duration_seconds"] for call in calls(partner)]
    assert all(seconds is None or isinstance(seconds, int) for seconds in durations)
    assert any(durations)


@rule("What the service does", says="8")
@broken_by(shows("phone_calls", created_at="15/01/2026"))
def test_timestamps_are_iso_8601(partner: Partner) -> None:
    for call in partner.page("phone_calls")["content"]:
        assert ISO.fullmatch(call["created_at"])
        assert datetime.fromisoformat(call["created_at"]) <= partner.platform.now()
