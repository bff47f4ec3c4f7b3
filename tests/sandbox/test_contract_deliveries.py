"""Contract: Events and Authentication 7: the delivery of webhooks, whatever their content.

The sender produces faults on demand, those of a real sender and those of others in its name.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.hook_receiver import Receiver
from support.partner_requests import PHONE, number, reach_out, send, to
from support.partner_side import Partner, Row, made
from vetl_sandbox import WebhookFault


def cause_message_webhook(partner: Partner, url: str) -> None:
    """Cause one webhook: the message is suppressed at once."""
    send(partner, recipient=to("00"), callback_url=url)
    partner.platform.settle()


def cause_outreach_webhook(partner: Partner, url: str) -> None:
    """Cause one webhook: the request is suppressed at intake."""
    reach_out(partner, contact_number=number("00"), callback_url=url)


Cause = Callable[[Partner, str], None]
AGENTS: dict[Cause, str] = {
    cause_message_webhook: "Service-Messages/1.0",
    cause_outreach_webhook: "Service-AiOutbound/1.0",
}
CAUSES = pytest.mark.parametrize("cause", AGENTS)


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


@CAUSES
def test_a_webhook_has_its_headers_and_the_hmac_of_its_raw_body(
    partner: Partner, receiver: Receiver, cause: Cause
) -> None:
    cause(partner, receiver.url)
    (got,) = receiver.got
    assert (got.headers["content-type"], got.headers["user-agent"]) == ("application/json", AGENTS[cause])
    assert got.is_signed_with(partner.platform.webhook_secret)


@CAUSES
def test_three_attempts_wait_2_s_and_4_s(partner: Partner, receiver: Receiver, cause: Cause) -> None:
    """They are attempts of one delivery."""
    receiver.answers = [500] * 9
    cause(partner, receiver.url)
    partner.later(minutes=10)
    sent = [datetime.fromisoformat(body["timestamp"]) for body in receiver.bodies]
    assert [(at - sent[0]).total_seconds() for at in sent] == [0, 2, 6]
    assert len({body.get("event_id") for body in receiver.bodies}) == 1


def test_one_address_gets_the_webhooks_of_the_world(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(webhooks_to=receiver.url)
    before = {row["id"] for row in partner.truth("ai_outbound") if row["completed_at"]}
    partner.later(hours=24)
    ended = {row["id"] for row in partner.truth("ai_outbound") if row["completed_at"]} - before
    bodies = [
        got.body for got in receiver.got if got.path == "/hook/ai_outbound" and got.body["clinic_id"] == "loc-001"
    ]
    assert {body["request_id"] for body in bodies} == ended
    appointments = {row["id"] for row in partner.truth("appointments")}
    booked = [body["outcome_detail"]["appointment_id"] for body in bodies if body["outcome"] == "booked"]
    assert set(booked) <= appointments
    assert all((body["outcome_detail"] is None) == (body["outcome"] != "booked") for body in bodies)
    assert [got for got in receiver.got if got.path == "/hook/service_reminders"]


def sent(partner: Partner, receiver: Receiver, *faults: WebhookFault, phone: str = PHONE) -> Row:
    """Send a message that is delivered after 3 seconds."""
    partner.platform.webhook_faults.set(faults)
    message = made(send(partner, recipient={"phone_number": phone}, callback_url=receiver.url))
    partner.platform.advance(timedelta(hours=1))
    return message


@pytest.mark.parametrize(
    ("fault", "statuses", "copies"),
    [
        (WebhookFault("lost", most=1), ["delivered"], []),
        (WebhookFault("lost", path="ai_outbound"), ["sent", "delivered"], []),
        (WebhookFault("late", most=1, wait_seconds=60), ["delivered", "sent"], []),
        (WebhookFault("duplicate", most=1, copies=2, wait_seconds=1), ["sent"] * 3 + ["delivered"], [0, 1, 2]),
        (WebhookFault("replayed", most=1, wait_seconds=600), ["sent", "delivered", "sent"], [0, 2]),
    ],
    ids=["lost", "another path", "late", "duplicate", "replayed"],
)
def test_a_status_is_lost_late_or_comes_again(
    partner: Partner, receiver: Receiver, fault: WebhookFault, statuses: list[str], copies: list[int]
) -> None:
    """A duplicate is a delivery of the same event; a replay has the same bytes."""
    sent(partner, receiver, fault)
    assert receiver.events == [f"message.{status}" for status in statuses]
    times = {body["status"]: body["occurred_at"] for body in receiver.bodies}
    assert times.get("sent", "") < times["delivered"]
    same = [receiver.got[place] for place in copies]
    assert len({got.body["event_id"] for got in same}) == bool(copies)
    assert len({got.raw for got in same}) == (len(same) if fault.kind == "duplicate" else bool(copies))
    assert all(got.is_signed_with(partner.platform.webhook_secret) for got in receiver.got)


def test_a_lost_answer_makes_it_try_again(partner: Partner, receiver: Receiver) -> None:
    sent(partner, receiver, WebhookFault("answer_lost", most=1), phone="+12125550100")
    assert receiver.events == ["message.suppressed"] * 3
    log = partner.platform.webhooks
    assert [attempt.status for attempt in log] == [None, None, 200]
    assert [(attempt.at - log[0].at).total_seconds() for attempt in log] == [0, 2, 6]


@pytest.mark.parametrize("kind", ["forged", "unsigned", "tampered", "wrong_practice"])
def test_forged_webhooks_come_beside_the_true_webhooks(partner: Partner, receiver: Receiver, kind: Any) -> None:
    message = sent(partner, receiver, WebhookFault(kind))
    log = partner.platform.webhooks
    assert [attempt.fault for attempt in log] == [kind, None] * 2
    true = [got for got, attempt in zip(receiver.got, log, strict=True) if attempt.fault is None]
    assert [got.body["status"] for got in true] == ["sent", "delivered"]
    assert all(got.is_signed_with(partner.platform.webhook_secret) for got in true)
    assert {got.body["id"] for got in receiver.got} == {message["id"]}
    for bad in (got for got in receiver.got if got not in true):
        assert bad.is_signed_with(partner.platform.webhook_secret) == (kind == "wrong_practice")
        assert (b"forged" in bad.raw) == (kind != "wrong_practice")
        assert ("x-webhook-signature" in bad.headers) == (kind != "unsigned")
