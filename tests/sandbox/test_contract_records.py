"""Contract: Resources; the Get endpoints. The fields of each record, in every answer that has it."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from support.booking import booking
from support.contract_values import VALUES
from support.message_requests import RCS_PHONE, send, to
from support.outreach_requests import reach_out
from support.partner_side import Partner, Row, made
from support.rows_by_id import ISO

ALL = {"start_date": "2025-01-01"}


@dataclass(frozen=True)
class Kind:
    """One kind of record. `seen` returns records of all answers that have it, those of its list first.

    `enums` are the fields whose values the contract lists.
    """

    path: str
    seen: Callable[[Partner], list[Row]]
    fields: str
    times: str = ""
    enums: tuple[str, ...] = ()


def messages(partner: Partner) -> list[Row]:
    """Return messages as they were created, and later."""
    created = [
        made(send(partner, recipient=whom)) for whom in ({"phone_number": RCS_PHONE}, to("02"), to("00"), to("01"))
    ]
    created.append(made(send(partner, channel="sms")))
    partner.later(minutes=5)
    return [*(partner.page(f"messages/{message['id']}") for message in created), *created]


def tasks(partner: Partner) -> list[Row]:
    created = made(partner.post("staff_tasks", {"title": "Call back"}))
    return [*partner.everything("staff_tasks"), created]


def appointments(partner: Partner) -> list[Row]:
    created = made(partner.post("appointments", booking(partner)))
    return [*partner.everything("appointments", **ALL), created]


def requests(partner: Partner) -> list[Row]:
    return [*partner.everything("ai_outbound/requests"), made(reach_out(partner))]


def clients(partner: Partner) -> list[Row]:
    return sorted(partner.page("clients", name="a"), key=lambda client: len(client["patients"]), reverse=True)


KINDS = {
    "Message": Kind(
        "messages",
        messages,
        "id reference_id status status_reason channel_requested channel_used client_id error_code error_message"
        " sent_at delivered_at read_at failed_at created_at",
        "sent_at delivered_at read_at failed_at created_at",
        ("status", "status_reason", "channel_requested", "channel_used"),
    ),
    "AI outbound request": Kind(
        "ai_outbound/requests",
        requests,
        "id partner_request_id channel purpose status outcome suppression_reason error_message client_id"
        " patient_id contact_number context contacted_at completed_at created_at",
        "contacted_at completed_at created_at",
        ("channel", "purpose", "status", "outcome", "suppression_reason"),
    ),
    "Phone call record": Kind(
        "phone_calls",
        lambda partner: partner.everything("phone_calls"),
        "id created_at practice_name direction state caller_type client_id remote_client_id client_name patient_id"
        " remote_patient_id patient_name phone_number call_classification summary customer_sentiment outcome"
        " booked booking_intent duration_seconds",
        "created_at",
        ("direction", "state", "caller_type", "call_classification", "outcome"),
    ),
    "Booking session": Kind(
        "booking_sessions",
        lambda partner: partner.everything("booking_sessions", **ALL),
        "id status stage client_type appointment_id remote_appointment_id referral_source referral_campaign"
        " referral_medium created_at updated_at last_activity_at",
        "created_at updated_at last_activity_at",
        ("status",),
    ),
    "Appointment": Kind(
        "appointments",
        appointments,
        "id remote_id remote_client_id remote_patient_id status booking_date end_date created_at updated_at"
        " referral_source referral_campaign referral_medium client_first_name client_last_name client_email"
        " client_phone client_type patient_name",
        "booking_date end_date created_at updated_at",
    ),
    "Staff task": Kind(
        "staff_tasks",
        tasks,
        "id task_type status title description client_id patient_id cancellation_allowed"
        " override_completion_action_text reference_time_at finalized_at created_at updated_at",
        "reference_time_at finalized_at created_at updated_at",
        ("task_type", "status"),
    ),
    "Client": Kind("clients", clients, "id name email phone patients remote_id"),
    "Patient": Kind(
        "patients",
        lambda partner: partner.page("patients", client_id=clients(partner)[0]["id"]),
        "id name client_id species breed",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_has_its_fields_its_times_and_its_values(partner: Partner, kind: str) -> None:
    of = KINDS[kind]
    seen = of.seen(partner)
    assert seen
    assert all(set(record) == set(of.fields.split()) for record in seen)
    for name in of.times.split():
        times = {record[name] for record in seen} - {None}
        assert times, name
        assert all(ISO.fullmatch(at) for at in times), name
    for name in of.enums:
        occurring = {record[name] for record in seen} - {None}
        assert occurring <= set(VALUES[of.path.removesuffix("/requests")][name].split())
        assert len(occurring) > 1, name


GOT = ("Phone call record", "Booking session", "AI outbound request", "Client", "Patient")


@pytest.mark.parametrize("kind", GOT)
def test_a_record_stands_directly_under_data_and_is_of_one_practice(partner: Partner, kind: str) -> None:
    """The contract does not show the status of a record that is not there: here it is a 404."""
    of = KINDS[kind]
    record = of.seen(partner)[-2]
    path = f"{of.path}/{record['id']}"
    assert partner.get(path).json() == {"success": True, "data": record, "message": None}
    assert partner.get(f"{of.path}/x").status_code == 404
    partner.act_for("loc-002")
    assert partner.get(path).status_code == 404
