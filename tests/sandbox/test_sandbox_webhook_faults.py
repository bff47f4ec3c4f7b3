"""The sender of webhooks produces faults on demand, those of a real sender and those of others in its name."""

from datetime import timedelta
from typing import Any

import pytest
from support.hook_receiver import Receiver
from support.partner_requests import PHONE, send, to
from support.partner_side import Partner, Row, made

from sandbox import WebhookFault

BESIDE = ("forged", "unsigned", "tampered", "wrong_practice")


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


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


@pytest.mark.parametrize("kind", BESIDE)
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


def test_they_are_set_through_the_control_interface(partner: Partner, receiver: Receiver) -> None:
    rules = {"rules": [{"kind": "duplicate", "path": "messages", "most": 1}], "seed": 7}
    assert partner.http.post("/_control/webhook_faults", json=rules).json()["data"]["seed"] == 7
    send(partner, recipient=to("00"), callback_url=receiver.url)
    partner.platform.advance(timedelta(minutes=1))
    assert partner.http.get("/_control/webhook_faults").json()["data"]["hits"] == {"duplicate": 1}
    attempts = partner.http.get("/_control/webhooks").json()["data"]
    assert [(attempt["fault"], attempt["status"]) for attempt in attempts] == [(None, 200), ("duplicate", 200)]
    assert partner.http.delete("/_control/webhook_faults").json()["data"]["rules"] == []
    assert partner.http.post("/_control/webhook_faults", json={"preset": "nice"}).status_code == 400
