"""Contract: AI outbound outcome webhook."""

import pytest
from support.contract_breaks import GONE, UNHEEDED, hears, posts, tells
from support.hook_receiver import Receiver
from support.outreach_requests import REQUESTS, newcomer, number, reach_out
from support.partner_side import Partner, Row, made
from support.rows_by_id import ISO
from support.rules import broken_as, broken_by, rule

OUTCOME = "Events / AI outbound outcome webhook"
FOUR_DAYS = 97
REQUIRED = {"event", "request_id", "clinic_id", "channel", "purpose", "status", "completed_at", "timestamp"}
FIELDS = REQUIRED | {
    "partner_request_id", "outcome", "outcome_detail", "suppression_reason", "error_message", "client_id",
    "patient_id", "contacted_at",
}  # fmt: skip


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


def outcome_webhook(partner: Partner, receiver: Receiver, ending: str, **fields: object) -> Row:
    """Return the webhook about a request that ends by itself within four days."""
    made(reach_out(partner, contact_number=number(ending), callback_url=receiver.url, **fields))
    partner.later(hours=FOUR_DAYS)
    assert len(receiver.got) == 1
    return receiver.bodies[0]


@rule(OUTCOME, says="payload")
@broken_by(tells(completed_at=GONE))
def test_it_has_its_fields(partner: Partner, receiver: Receiver) -> None:
    body = outcome_webhook(partner, receiver, "39")
    assert set(body) == FIELDS
    assert all(body[name] is not None for name in REQUIRED)


@rule(OUTCOME, says="completed, no_response", ending="39", event="completed", outcome="no_response")
@rule(OUTCOME, says="completed, opted_out", ending="22", event="completed", outcome="opted_out")
@rule(OUTCOME, says="suppressed", ending="24", event="suppressed", outcome=None)
@rule(OUTCOME, says="failed, undeliverable", ending="01", event="failed", outcome="undeliverable")
@rule(OUTCOME, says="failed, null", ending="26", event="failed", outcome=None)
@broken_by(tells(outcome="sold"))
def test_an_event_is_named_after_the_terminal_status(
    partner: Partner, receiver: Receiver, ending: str, event: str, outcome: str | None
) -> None:
    body = outcome_webhook(partner, receiver, ending)
    assert (body["event"], body["status"], body["outcome"]) == (f"ai_outbound.{event}", event, outcome)


@rule(OUTCOME, says="suppression_reason", ending="25", name="suppression_reason")
@rule(OUTCOME, says="error_message", ending="26", name="error_message")
@rule(OUTCOME, says="partner_request_id", ending="22", name="partner_request_id")
@rule(OUTCOME, says="contacted_at", ending="39", name="contacted_at")
@rule(OUTCOME, says="completed_at", ending="39", name="completed_at")
@rule(OUTCOME, says="purpose", ending="39", name="purpose")
@rule(OUTCOME, says="channel", ending="39", name="channel")
@broken_as(lambda name: tells(**{name: None}))
def test_the_webhook_has_the_fields_of_the_request(
    partner: Partner, receiver: Receiver, ending: str, name: str
) -> None:
    body = outcome_webhook(partner, receiver, ending, partner_request_id="p-1", purpose="refill")
    request = partner.page(f"{REQUESTS}/{body['request_id']}")
    assert body[name] == request[name]
    assert body[name] is not None


@rule(OUTCOME, says="request_id; clinic_id")
@broken_by(tells(clinic_id="loc-002"))
def test_it_names_request_and_practice(partner: Partner, receiver: Receiver) -> None:
    body = outcome_webhook(partner, receiver, "22", partner_request_id="p-1")
    assert body["request_id"] == partner.page(f"{REQUESTS}/p-1")["id"]
    assert body["clinic_id"] == "loc-001"


@rule(OUTCOME, says="client_id", name="client_id")
@rule(OUTCOME, says="patient_id", name="patient_id")
@broken_as(lambda name: tells(**{name: None}))
def test_it_names_client_and_patient(partner: Partner, receiver: Receiver, name: str) -> None:
    client = newcomer(partner, number("22"))
    ids = {"client_id": client["id"], "patient_id": client["patients"][0]["id"]}
    assert outcome_webhook(partner, receiver, "22", **ids)[name] == ids[name]


@rule(OUTCOME, says="outcome_detail")
@broken_by(tells(outcome_detail=None))
def test_a_booking_is_sent_with_its_appointment(partner: Partner, receiver: Receiver) -> None:
    client = newcomer(partner, number("23"))
    body = outcome_webhook(partner, receiver, "23", client_id=client["id"])
    assert body["outcome"] == "booked"
    rows = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    booked = [row["id"] for row in rows if row["remote_client_id"] == "77"]
    assert [(body["outcome_detail"] or {}).get("appointment_id")] == booked


@rule(OUTCOME, says="exactly one per request")
@broken_by(posts(lambda sent: [sent, sent]))
def test_a_request_has_exactly_one_webhook(partner: Partner, receiver: Receiver) -> None:
    assert outcome_webhook(partner, receiver, "39")["outcome"] == "no_response"
    partner.later(hours=50)
    assert len(receiver.got) == 1


@rule(OUTCOME, says="at intake")
@broken_by(tells(event="ai_outbound.failed"))
def test_a_suppression_at_intake_is_confirmed_right_after(partner: Partner, receiver: Receiver) -> None:
    request = made(reach_out(partner, contact_number=number("00"), callback_url=receiver.url), 200)
    assert [body["request_id"] for body in receiver.bodies] == [request["id"]]
    assert receiver.events == ["ai_outbound.suppressed"]


@rule(OUTCOME, says="hourly reconciliation")
@broken_by(posts(lambda sent: [sent, sent]))
def test_a_queued_webhook_is_sent_within_the_hour(partner: Partner, receiver: Receiver) -> None:
    """The clock starts at half past."""
    partner.platform.set(outreach_webhooks_stuck=True)
    reach_out(partner, contact_number=number("00"), callback_url=receiver.url)
    partner.later(minutes=15)
    assert receiver.got == []
    partner.later(minutes=45)
    assert receiver.events == ["ai_outbound.suppressed"]
    partner.later(hours=5)
    assert len(receiver.got) == 1


@rule(OUTCOME, says="marked failed and not retried")
@broken_by(UNHEEDED)
def test_after_three_attempts_it_is_given_up(partner: Partner, receiver: Receiver) -> None:
    """A get of the request recovers it."""
    receiver.answers = [500] * 9
    request = made(reach_out(partner, contact_number=number("00"), callback_url=receiver.url))
    partner.later(hours=3)
    assert len(receiver.got) == 3
    assert partner.page(f"{REQUESTS}/{request['id']}")["status"] == "suppressed"


@rule(OUTCOME, says="reason")
@broken_by(tells(suppression_reason=None))
def test_a_declined_request_has_its_reason(partner: Partner, receiver: Receiver) -> None:
    assert outcome_webhook(partner, receiver, "21")["suppression_reason"] == "client_inactive"


@rule(OUTCOME, says="callback_url")
@broken_by(hears("requests", callback_url="https://127.0.0.1:9/"))
def test_no_webhook_is_sent_without_a_callback_address(partner: Partner) -> None:
    made(reach_out(partner, contact_number=number("00")))
    partner.later(hours=2)
    assert partner.platform.webhooks == []


@rule(OUTCOME, says="times")
@broken_by(tells(timestamp="now"))
def test_its_times_are_date_times(partner: Partner, receiver: Receiver) -> None:
    body = outcome_webhook(partner, receiver, "39")
    assert all(ISO.fullmatch(body[name]) for name in ("contacted_at", "completed_at", "timestamp"))
