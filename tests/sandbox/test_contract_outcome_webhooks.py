"""Contract: AI outbound outcome webhook."""

import pytest
from support.breaking import edited
from support.contacting import REQUESTS, newcomer, number, reach_out
from support.hook_receiver import Receiver
from support.partner_side import Partner, Row, made
from support.rules import rule
from support.shapes import ISO

OUTCOME = "Events / AI outbound outcome webhook"
FINISHED = "webhooks.outcomes:OutcomeWebhooks.finished"
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


def told(partner: Partner, receiver: Receiver, ending: str, **fields: object) -> Row:
    """The webhook about a request that ends by itself within four days."""
    made(reach_out(partner, contact_number=number(ending), callback_url=receiver.url, **fields))
    partner.later(hours=FOUR_DAYS)
    assert len(receiver.got) == 1
    return receiver.bodies[0]


@rule(
    OUTCOME,
    edited(FINISHED, '"request_id": request["id"],', ""),
    edited(FINISHED, '"clinic_id": practice_id,', ""),
    edited(FINISHED, "for name in _FIELDS", "for name in _FIELDS[1:]"),
    edited(FINISHED, "for name in _FIELDS", "for name in _FIELDS[:-1]"),
    says="payload",
)
def test_it_has_its_fields(partner: Partner, receiver: Receiver) -> None:
    body = told(partner, receiver, "39")
    assert set(body) == FIELDS
    assert all(body[name] is not None for name in REQUIRED)


ALWAYS = edited(FINISHED, "request['status']", "'completed'")


@rule(
    OUTCOME,
    edited(FINISHED, "request['status']}", "request['outcome']}"),
    says="completed, no_response",
    ending="39",
    event="completed",
    outcome="no_response",
)
@rule(
    OUTCOME,
    edited(FINISHED, "request['status']}", "request['outcome']}"),
    says="completed, opted_out",
    ending="22",
    event="completed",
    outcome="opted_out",
)
@rule(OUTCOME, ALWAYS, says="suppressed", ending="24", event="suppressed", outcome=None)
@rule(OUTCOME, ALWAYS, says="failed, undeliverable", ending="01", event="failed", outcome="undeliverable")
@rule(OUTCOME, ALWAYS, says="failed, null", ending="26", event="failed", outcome=None)
def test_an_event_is_named_after_the_terminal_status(
    partner: Partner, receiver: Receiver, ending: str, event: str, outcome: str | None
) -> None:
    body = told(partner, receiver, ending)
    assert (body["event"], body["status"], body["outcome"]) == (f"ai_outbound.{event}", event, outcome)


KEPT = "**{name: request[name] for name in _FIELDS},"


def with_other(name: str) -> str:
    return f'**{{name: request[name] for name in _FIELDS}} | {{"{name}": None}},'


@rule(
    OUTCOME,
    edited(FINISHED, KEPT, with_other("suppression_reason")),
    says="suppression_reason",
    ending="25",
    name="suppression_reason",
)
@rule(
    OUTCOME,
    edited(FINISHED, KEPT, with_other("error_message")),
    says="error_message",
    ending="26",
    name="error_message",
)
@rule(
    OUTCOME,
    edited(FINISHED, KEPT, with_other("partner_request_id")),
    says="partner_request_id",
    ending="22",
    name="partner_request_id",
)
@rule(
    OUTCOME,
    edited(FINISHED, KEPT, with_other("contacted_at")),
    says="contacted_at",
    ending="39",
    name="contacted_at",
)
@rule(
    OUTCOME,
    edited(FINISHED, KEPT, with_other("completed_at")),
    says="completed_at",
    ending="39",
    name="completed_at",
)
@rule(OUTCOME, edited(FINISHED, KEPT, with_other("purpose")), says="purpose", ending="39", name="purpose")
@rule(OUTCOME, edited(FINISHED, KEPT, with_other("channel")), says="channel", ending="39", name="channel")
def test_it_tells_what_the_request_says(partner: Partner, receiver: Receiver, ending: str, name: str) -> None:
    body = told(partner, receiver, ending, partner_request_id="p-1", purpose="refill")
    request = partner.page(f"{REQUESTS}/{body['request_id']}")
    assert body[name] == request[name]
    assert body[name] is not None


@rule(OUTCOME, edited(FINISHED, '"request_id": request["id"]', '"request_id": practice_id'), says="request_id")
@rule(OUTCOME, edited(FINISHED, '"clinic_id": practice_id', '"clinic_id": request["id"]'), says="clinic_id")
def test_it_names_request_and_practice(partner: Partner, receiver: Receiver) -> None:
    body = told(partner, receiver, "22", partner_request_id="p-1")
    assert body["request_id"] == partner.page(f"{REQUESTS}/p-1")["id"]
    assert body["clinic_id"] == "loc-001"


@rule(OUTCOME, edited(FINISHED, KEPT, with_other("client_id")), says="client_id", name="client_id")
@rule(OUTCOME, edited(FINISHED, KEPT, with_other("patient_id")), says="patient_id", name="patient_id")
def test_it_names_client_and_patient(partner: Partner, receiver: Receiver, name: str) -> None:
    client = newcomer(partner, number("22"))
    ids = {"client_id": client["id"], "patient_id": client["patients"][0]["id"]}
    assert told(partner, receiver, "22", **ids)[name] == ids[name]


@rule(
    OUTCOME,
    edited(FINISHED, 'None if appointment_id is None else {"appointment_id": appointment_id}', "None"),
    edited(FINISHED, '{"appointment_id": appointment_id}', '{"id": appointment_id}'),
    says="outcome_detail",
)
def test_a_booking_is_told_with_its_appointment(partner: Partner, receiver: Receiver) -> None:
    client = newcomer(partner, number("23"))
    body = told(partner, receiver, "23", client_id=client["id"])
    assert body["outcome"] == "booked"
    rows = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    booked = [row["id"] for row in rows if row["remote_client_id"] == "77"]
    assert [(body["outcome_detail"] or {}).get("appointment_id")] == booked


@rule(
    OUTCOME,
    edited(
        "webhooks.outcomes:OutcomeWebhooks._send", "then=lambda _: self._done(request_id)", "then=lambda _: None"
    ),
    edited("outreach:Outreach._finish", "if self._open(practice, row_id) is None:", "if False:"),
    says="exactly one per request",
)
def test_a_request_is_told_of_exactly_once(partner: Partner, receiver: Receiver) -> None:
    assert told(partner, receiver, "39")["outcome"] == "no_response"
    partner.later(hours=50)
    assert len(receiver.got) == 1


@rule(OUTCOME, edited(FINISHED, "if not self.stuck():", "if request['contacted_at']:"), says="at intake")
def test_a_suppression_at_intake_is_confirmed_right_after(partner: Partner, receiver: Receiver) -> None:
    request = made(reach_out(partner, contact_number=number("00"), callback_url=receiver.url), 200)
    assert [body["request_id"] for body in receiver.bodies] == [request["id"]]
    assert receiver.events == ["ai_outbound.suppressed"]


@rule(
    OUTCOME,
    edited(FINISHED, "self.agenda.add(_next_hour(self.now()), self._reconcile)", "pass"),
    edited("webhooks.outcomes:_next_hour", "timedelta(hours=1)", "timedelta(hours=2)"),
    edited("webhooks.outcomes:_next_hour", "minute=0, second=0, microsecond=0", "minute=40"),
    says="hourly reconciliation",
)
def test_what_was_queued_but_never_delivered_is_sent_within_the_hour(partner: Partner, receiver: Receiver) -> None:
    """The clock starts at half past."""
    partner.platform.set(outreach_webhooks_stuck=True)
    reach_out(partner, contact_number=number("00"), callback_url=receiver.url)
    partner.later(minutes=15)
    assert receiver.got == []
    partner.later(minutes=45)
    assert receiver.events == ["ai_outbound.suppressed"]
    partner.later(hours=5)
    assert len(receiver.got) == 1


@rule(
    OUTCOME,
    edited("webhooks.outcomes:OutcomeWebhooks._done", "self._queued.pop(request_id, None)", "pass"),
    says="marked failed and not retried",
)
def test_after_three_attempts_it_is_given_up(partner: Partner, receiver: Receiver) -> None:
    """And recovered by getting the request."""
    receiver.answers = [500] * 9
    request = made(reach_out(partner, contact_number=number("00"), callback_url=receiver.url))
    partner.later(hours=3)
    assert len(receiver.got) == 3
    assert partner.page(f"{REQUESTS}/{request['id']}")["status"] == "suppressed"


@rule(
    OUTCOME,
    edited("outreach:Outreach._finish", "assert request is not None", 'request["suppression_reason"] = None'),
    says="reason",
)
def test_a_declined_request_tells_why(partner: Partner, receiver: Receiver) -> None:
    assert told(partner, receiver, "21")["suppression_reason"] == "client_inactive"


@rule(
    OUTCOME, edited("desk:Desk.create_outreach", "= callback_url", '= "http://127.0.0.1:1/"'), says="callback_url"
)
def test_nothing_is_told_without_a_callback_address(partner: Partner) -> None:
    made(reach_out(partner, contact_number=number("00")))
    partner.later(hours=2)
    assert partner.platform.webhooks == []


@rule(OUTCOME, edited("stamps:stamped", "stamp(value,", "'at ' + stamp(value,"), says="times")
def test_its_times_are_date_times(partner: Partner, receiver: Receiver) -> None:
    body = told(partner, receiver, "39")
    assert all(ISO.fullmatch(body[name]) for name in ("contacted_at", "completed_at", "timestamp"))
