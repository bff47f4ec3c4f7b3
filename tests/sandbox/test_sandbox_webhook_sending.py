"""The sending of webhooks: side by side, and of the world's own events."""

import threading
from contextlib import ExitStack
from datetime import timedelta

from support.hook_receiver import Receiver, receiving
from support.partner_requests import RCS_PHONE, send
from support.partner_side import Partner

MOST_SECONDS = 20


def test_a_slow_receiver_keeps_no_other_waiting(partner: Partner) -> None:
    """Nobody moves the clock meanwhile."""
    partner.platform.set(http_callbacks=True)
    with receiving() as slow, receiving() as quick:
        slow.held = threading.Event()
        send(partner, callback_url=slow.url)
        assert slow.arrived.wait(MOST_SECONDS)
        send(partner, callback_url=quick.url)
        assert quick.arrived.wait(MOST_SECONDS)
        assert partner.platform.webhooks == [] or partner.platform.webhooks[0].url == quick.url
        slow.held.set()
        partner.platform.settle()
    assert {attempt.status for attempt in partner.platform.webhooks} == {200}


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
