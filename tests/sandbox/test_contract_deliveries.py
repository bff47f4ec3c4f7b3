"""Contract: Events and Authentication 7: the delivery of webhooks, whatever their content.

The faults of a sender meet vetl's receiver in `tests/addons/webhooks/test_misbehaving_sender.py`.
"""

from collections.abc import Callable
from datetime import datetime

import pytest
from support.hook_receiver import Receiver
from support.partner_requests import number, reach_out, send, to
from support.partner_side import Partner


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
