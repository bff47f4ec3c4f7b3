"""Contract: Phone call record; Get a phone call."""

from support.contract_breaks import shows
from support.partner_side import Partner, Row
from support.rules import broken_by, rule

RECORD = "Resources / Phone call record"
BOOKED = {"appointment_booked", "appointment_rescheduled", "appointment_confirmed"}


def calls(partner: Partner) -> list[Row]:
    records = partner.everything("phone_calls")
    assert records
    return records


@rule(RECORD, says="booked; booking_intent: classification, outcome, tool; duration_seconds")
@broken_by(
    shows("phone_calls", booked=False),
    shows("phone_calls", booking_intent=False),
    shows("phone_calls", booking_intent=lambda call: call["booked"]),
    shows("phone_calls", booking_intent=lambda call: not call["booked"]),
    shows("phone_calls", duration_seconds=lambda call: str(call["duration_seconds"])),
)
def test_booked_and_booking_intent_follow_from_the_call(partner: Partner) -> None:
    """They do so for historical calls, too; other calls have an intent if a scheduling tool was used."""
    others: set[bool] = set()
    for call in calls(partner):
        assert call["booked"] == (call["outcome"] in BOOKED)
        assert call["duration_seconds"] is None or isinstance(call["duration_seconds"], int)
        if call["booked"] or call["call_classification"] == "scheduling":
            assert call["booking_intent"]
        else:
            others.add(call["booking_intent"])
    assert others == {True, False}


@rule(RECORD, says="unknown")
@broken_by(shows("phone_calls", caller_type="existing"))
def test_unknown_callers_were_never_matched_to_a_client(partner: Partner) -> None:
    assert all((call["client_id"] is None) == (call["caller_type"] == "unknown") for call in calls(partner))


@rule(RECORD, says="new")
@broken_by(shows("phone_calls", caller_type="new"))
def test_a_new_client_has_had_no_visit_before_the_call(partner: Partner) -> None:
    """The telephone number shows who has had a visit by now."""
    visits = partner.everything("appointments", start_date="2025-01-01")
    kept = sorted((row["booking_date"], row["client_phone"]) for row in visits if row["status"] == "COMPLETED")
    first = {phone: at for at, phone in reversed(kept)}
    new = [call for call in calls(partner) if call["caller_type"] == "new"]
    assert new
    assert all(call["created_at"] <= first.get(call["phone_number"], call["created_at"]) for call in new)


@rule(RECORD, says="client; patient")
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


@rule(RECORD, says="practice_name; remote_client_id", practice="loc-001")
@rule(RECORD, says="remote_client_id, no server id", practice="loc-004")
@broken_by(shows("phone_calls", practice_name="loc-001"), shows("phone_calls", remote_client_id="7-8"))
def test_a_call_names_its_practice_and_its_server(partner: Partner, practice: str) -> None:
    partner.act_for(practice)
    here = next(one for one in partner.platform.practices if one.id == practice)
    named = [call for call in calls(partner) if call["client_id"]]
    assert {call["remote_client_id"].partition("-")[2] for call in named} == {here.server_id or ""}
    assert {call["practice_name"] for call in named} == {here.name}


@rule(RECORD, says="the same in appointments")
@broken_by(shows("phone_calls", remote_client_id="7"))
def test_appointments_have_the_same_remote_client_id(partner: Partner) -> None:
    """The telephone number identifies the client of both."""
    of_phone = {call["phone_number"]: call["remote_client_id"] for call in calls(partner) if call["client_id"]}
    visits = partner.everything("appointments", start_date="2025-01-01")
    shared = [row for row in visits if row["client_phone"] in of_phone]
    assert shared
    assert all(row["remote_client_id"] == of_phone[row["client_phone"]] for row in shared)
