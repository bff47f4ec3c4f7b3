"""Contract: Events and Authentication 7: the delivery of webhooks, whatever their content."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta

import pytest
from support.hook_receiver import Receiver, receiving
from support.partner_requests import RCS_PHONE, number, reach_out, send, to
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


def test_a_practice_without_secret_signs_nothing(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(signed_webhooks=False)
    cause_message_webhook(partner, receiver.url)
    assert "x-webhook-signature" not in receiver.got[0].headers


@CAUSES
def test_three_attempts_wait_2_s_and_4_s(partner: Partner, receiver: Receiver, cause: Cause) -> None:
    """They are attempts of one delivery."""
    receiver.answers = [500] * 9
    cause(partner, receiver.url)
    partner.later(minutes=10)
    sent = [datetime.fromisoformat(body["timestamp"]) for body in receiver.bodies]
    assert [(at - sent[0]).total_seconds() for at in sent] == [0, 2, 6]
    assert len({body.get("event_id") for body in receiver.bodies}) == 1


@CAUSES
def test_a_2xx_and_nothing_else_acknowledges(partner: Partner, receiver: Receiver, cause: Cause) -> None:
    receiver.answers = [404, 204]
    cause(partner, receiver.url)
    partner.later(minutes=10)
    assert len(receiver.got) == 2


def test_an_answer_that_comes_too_late_counts_as_none(partner: Partner, receiver: Receiver) -> None:
    """A receiver has ten seconds; the time-out is short in the rest of this test."""
    assert partner.platform.switches.webhook_timeout_seconds == 10
    partner.platform.set(webhook_timeout_seconds=0.05)
    receiver.held = threading.Event()
    try:
        cause_message_webhook(partner, receiver.url)
        partner.later(minutes=10)
    finally:
        receiver.held.set()
    assert len(receiver.got) > 1


def test_the_clock_waits_for_all_that_are_under_way(partner: Partner) -> None:
    """A receiver's webhooks do not depend on the speed of other receivers; each message keeps its order."""
    partner.platform.set(http_callbacks=True)
    with ExitStack() as stack:
        receivers = [stack.enter_context(receiving()) for _ in range(8)]
        for receiver in receivers:
            send(partner, recipient={"phone_number": RCS_PHONE}, callback_url=receiver.url)
        partner.platform.advance(timedelta(minutes=5))
        for receiver in receivers:
            assert receiver.events == ["message.sent", "message.delivered", "message.read"]
    log = partner.platform.webhooks
    assert [attempt.at for attempt in log] == sorted(attempt.at for attempt in log)
    assert len({attempt.at for attempt in log}) <= 8 + 2 * 8


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
