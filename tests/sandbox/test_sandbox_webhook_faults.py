"""The sender of webhooks produces faults on demand, those of a real sender and those of others in its name."""

import hashlib
import hmac
from datetime import timedelta
from typing import Any

import pytest
from support.hook_receiver import Got, Receiver
from support.partner_side import ROOT, Partner

from sandbox import WebhookFault
from sandbox.webhooks.faults import KINDS, PRESETS, WebhookFaults

BESIDE = ("forged", "unsigned", "tampered", "wrong_practice")


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


def send(
    partner: Partner, receiver: Receiver, *faults: WebhookFault, phone: str = "+12125550139"
) -> dict[str, Any]:
    """Send a message that is delivered after 3 seconds."""
    partner.platform.webhook_faults.set(faults)
    recipient = {"phone_number": phone}
    body = {"recipient": recipient, "fallback_text": "Hi", "callback_url": receiver.url}
    message: dict[str, Any] = partner.http.post(f"{ROOT}/messages", json=body).json()["data"]
    partner.platform.advance(timedelta(hours=1))
    return message


def genuine(got: Got, secret: str) -> bool:
    made = hmac.new(secret.encode(), got.raw, hashlib.sha256).hexdigest()
    return got.headers.get("x-webhook-signature") == made


def test_a_lost_status_is_skipped(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver, WebhookFault("lost", most=1))
    assert receiver.events == ["message.delivered"]


def test_a_late_status_comes_out_of_order(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver, WebhookFault("late", most=1, wait_seconds=60))
    assert receiver.events == ["message.delivered", "message.sent"]
    sent, delivered = (got.body["occurred_at"] for got in reversed(receiver.got))
    assert sent < delivered


def test_a_duplicate_has_the_same_event_id(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver, WebhookFault("duplicate", most=1, copies=2, wait_seconds=1))
    assert receiver.events == ["message.sent"] * 3 + ["message.delivered"]
    assert len({got.body["event_id"] for got in receiver.got[:3]}) == 1
    assert len({got.body["timestamp"] for got in receiver.got[:3]}) == 3


def test_a_lost_answer_makes_it_try_again(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver, WebhookFault("answer_lost", most=1), phone="+12125550100")
    assert receiver.events == ["message.suppressed"] * 3
    log = partner.platform.webhooks
    assert [attempt.status for attempt in log] == [None, None, 200]
    assert [(attempt.at - log[0].at).total_seconds() for attempt in log] == [0, 2, 6]


def test_a_replay_is_the_same_bytes_later(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver, WebhookFault("replayed", most=1, wait_seconds=600))
    first, *_, last = receiver.got
    assert last.raw == first.raw
    assert last.headers["x-webhook-signature"] == first.headers["x-webhook-signature"]
    assert receiver.events == ["message.sent", "message.delivered", "message.sent"]


@pytest.mark.parametrize("kind", BESIDE)
def test_forged_webhooks_come_beside_the_true_webhooks(partner: Partner, receiver: Receiver, kind: Any) -> None:
    message = send(partner, receiver, WebhookFault(kind))
    log = partner.platform.webhooks
    assert [attempt.fault for attempt in log] == [kind, None] * 2
    true = [got for got, attempt in zip(receiver.got, log, strict=True) if attempt.fault is None]
    assert [got.body["status"] for got in true] == ["sent", "delivered"]
    assert all(genuine(got, partner.platform.webhook_secret) for got in true)
    assert {got.body["id"] for got in receiver.got} == {message["id"]}


@pytest.mark.parametrize("kind", ["forged", "unsigned", "tampered"])
def test_a_forgery_is_marked_and_not_genuine(partner: Partner, receiver: Receiver, kind: Any) -> None:
    send(partner, receiver, WebhookFault(kind, most=1))
    bad = receiver.got[0]
    assert b"forged" in bad.raw
    assert not genuine(bad, partner.platform.webhook_secret)
    assert ("x-webhook-signature" in bad.headers) == (kind != "unsigned")


@pytest.mark.parametrize("named", [None, "loc-777"])
def test_another_practice_is_named_under_a_good_signature(
    partner: Partner, receiver: Receiver, named: str | None
) -> None:
    send(partner, receiver, WebhookFault("wrong_practice", most=1, practice_id=named))
    bad = receiver.got[0]
    assert bad.body["clinic_id"] == (named or "loc-002")
    assert genuine(bad, partner.platform.webhook_secret)


def test_a_practice_can_have_a_secret_of_its_own(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(webhook_secrets={"loc-001": "rotated"})
    send(partner, receiver)
    assert all(genuine(got, "rotated") for got in receiver.got)
    partner.platform.set(webhook_secrets={"loc-001": "again", "loc-002": "other"})
    send(partner, receiver)
    assert genuine(receiver.got[-1], "again")


def test_faults_are_for_some_webhooks_only(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver, WebhookFault("lost", path="ai_outbound"))
    assert receiver.events == ["message.sent", "message.delivered"]


@pytest.mark.parametrize("kind", KINDS)
def test_outreach_and_reminders_meet_them_too(partner: Partner, receiver: Receiver, kind: Any) -> None:
    platform = partner.platform
    platform.webhook_faults.set([WebhookFault(kind, share=0.5, wait_seconds=60)])
    platform.set(webhooks_to=receiver.url)
    platform.advance(timedelta(days=1))
    hit = {attempt.kind for attempt in platform.webhooks if attempt.fault == kind}
    assert platform.webhook_faults.hits[kind] > 3
    assert hit == (set() if kind == "lost" else {"ai_outbound", "service_reminders"})
    for attempt in platform.webhooks:
        if attempt.fault == "wrong_practice":
            name = "practice_id" if attempt.kind == "service_reminders" else "clinic_id"
            assert attempt.payload[name] in {practice.id for practice in platform.practices}


def test_they_are_set_through_the_control_interface(partner: Partner, receiver: Receiver) -> None:
    rules = {"rules": [{"kind": "duplicate", "path": "messages", "most": 1}], "seed": 7}
    assert partner.http.post("/_control/webhook_faults", json=rules).json()["data"]["seed"] == 7
    recipient = {"phone_number": "+12125550100"}
    body = {"recipient": recipient, "fallback_text": "Hi", "callback_url": receiver.url}
    partner.http.post(f"{ROOT}/messages", json=body)
    partner.platform.advance(timedelta(minutes=1))
    assert partner.http.get("/_control/webhook_faults").json()["data"]["hits"] == {"duplicate": 1}
    assert [attempt["fault"] for attempt in partner.http.get("/_control/webhooks").json()["data"]] == [
        None,
        "duplicate",
    ]
    assert partner.http.delete("/_control/webhook_faults").json()["data"]["rules"] == []
    assert partner.http.post("/_control/webhook_faults", json={"preset": "nice"}).status_code == 400
    assert (
        len(partner.http.post("/_control/webhook_faults", json={"preset": "hostile"}).json()["data"]["rules"]) == 4
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_faults_follow_from_the_seed(preset: str) -> None:
    def drawn(seed: int) -> list[WebhookFault | None]:
        faults = WebhookFaults(seed=seed)
        faults.set(PRESETS[preset])
        return [faults.strike("messages", f"messages {number}") for number in range(200)]

    assert drawn(1) == drawn(1)
    assert (drawn(1) == drawn(2)) == (preset == "none")
