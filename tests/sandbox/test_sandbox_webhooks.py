"""Contract: Events. The three webhooks, as a receiver on this machine gets them."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from support.partner_side import ROOT, Partner

RCS_PHONE = "+12125550138"


@dataclass
class Got:
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw)


@dataclass
class Receiver:
    """Answers with the next of `answers`, then 200, and keeps what it got."""

    url: str
    got: list[Got] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    held: threading.Event | None = None

    @property
    def events(self) -> list[str]:
        return [got.body["event"] for got in self.got]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(Got(self.path, {key.lower(): value for key, value in self.headers.items()}, body))
            if receiver.held is not None:
                receiver.held.wait(5)
            self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield receiver
        server.shutdown()
        thread.join()


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


def send(partner: Partner, receiver: Receiver, phone: str = RCS_PHONE) -> dict[str, Any]:
    body = {
        "recipient": {"phone_number": phone},
        "fallback_text": "Hi",
        "reference_id": "ref-1",
        "callback_url": receiver.url,
    }
    message = partner.http.post(f"{ROOT}/messages", json=body).json()["data"]
    partner.platform.settle()
    return message


def later(partner: Partner, seconds: float) -> None:
    partner.platform.advance(timedelta(seconds=seconds))


def test_each_status_of_a_message_is_told_once_in_order(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver)
    later(partner, 600)
    assert receiver.events == ["message.sent", "message.delivered", "message.read"]


def test_a_message_webhook_has_all_fields_of_the_message_and_its_own(partner: Partner, receiver: Receiver) -> None:
    message = send(partner, receiver)
    told = receiver.got[0].body
    assert message.items() <= told.items()
    assert told["clinic_id"] == "loc-001"
    assert told["reference_id"] == "ref-1"
    assert told["channel_used"] is None
    assert told["occurred_at"] == message["sent_at"]
    assert set(told) - set(message) == {"event", "event_id", "clinic_id", "occurred_at", "timestamp"}


def test_it_carries_the_contracts_headers(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver)
    headers = receiver.got[0].headers
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == "Service-Messages/1.0"


def test_the_signature_is_over_the_raw_body(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver)
    got = receiver.got[0]
    secret = partner.platform.webhook_secret.encode()
    assert got.headers["x-webhook-signature"] == hmac.new(secret, got.raw, hashlib.sha256).hexdigest()


def test_a_practice_without_secret_signs_nothing(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(signed_webhooks=False)
    send(partner, receiver)
    assert "x-webhook-signature" not in receiver.got[0].headers


@pytest.mark.parametrize(("ending", "event"), [("00", "suppressed"), ("01", "suppressed")])
def test_a_suppressed_message_is_confirmed(partner: Partner, receiver: Receiver, ending: str, event: str) -> None:
    send(partner, receiver, f"+121255501{ending}")
    later(partner, 600)
    assert receiver.events == [f"message.{event}"]


def test_a_failed_message_is_told_with_its_error(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver, "+12125550102")
    later(partner, 600)
    assert receiver.events == ["message.sent", "message.failed"]
    assert receiver.got[1].body["error_code"]


def test_three_attempts_wait_2_and_4_seconds(partner: Partner, receiver: Receiver) -> None:
    receiver.answers = [500] * 3
    start = partner.platform.now()
    send(partner, receiver, "+12125550100")
    later(partner, 600)
    waits = [(attempt.at - start).total_seconds() for attempt in partner.platform.webhooks]
    assert waits == [0, 2, 6]
    assert len({got.body["event_id"] for got in receiver.got}) == 1


def test_a_2xx_ends_the_attempts(partner: Partner, receiver: Receiver) -> None:
    receiver.answers = [503, 204]
    send(partner, receiver, "+12125550100")
    later(partner, 600)
    assert [attempt.status for attempt in partner.platform.webhooks] == [503, 204]


def test_a_status_that_was_passed_during_attempts_is_skipped(partner: Partner, receiver: Receiver) -> None:
    """`sent` is tried until 6 s; `delivered`, at 3 s, waits for it; `read` comes at 90 s."""
    receiver.answers = [500] * 3
    send(partner, receiver)
    later(partner, 30)
    assert receiver.events == ["message.sent"] * 3 + ["message.delivered"]


def test_after_three_failures_the_next_change_sends_the_latest(partner: Partner, receiver: Receiver) -> None:
    receiver.answers = [500] * 6
    send(partner, receiver)
    later(partner, 600)
    assert receiver.events == ["message.sent"] * 3 + ["message.delivered"] * 3 + ["message.read"]


def test_a_slow_answer_counts_as_none(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(webhook_timeout_seconds=0.05)
    receiver.held = threading.Event()
    send(partner, receiver, "+12125550100")
    receiver.held.set()
    assert partner.platform.webhooks[0].status is None


def test_http_callbacks_are_refused_by_rule(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(http_callbacks=False)
    body = {"recipient": {"phone_number": RCS_PHONE}, "fallback_text": "Hi", "callback_url": receiver.url}
    assert partner.http.post(f"{ROOT}/messages", json=body).status_code == 400


def reach_out(partner: Partner, receiver: Receiver | None, ending: str = "39", **fields: Any) -> dict[str, Any]:
    body = {"contact_number": f"+121255501{ending}", "callback_url": receiver and receiver.url, **fields}
    answer = partner.http.post(f"{ROOT}/ai_outbound/requests", json=body)
    assert answer.status_code in (200, 201), answer.text
    partner.platform.settle()
    return answer.json()["data"]


ENDS = [
    ("39", "completed", "no_response", None),
    ("00", "suppressed", None, "sms_opted_out"),
    ("01", "failed", "undeliverable", None),
    ("20", "suppressed", None, "notifications_disabled"),
    ("21", "suppressed", None, "client_inactive"),
    ("22", "completed", "opted_out", None),
    ("24", "suppressed", None, "pet_deceased"),
    ("25", "suppressed", None, "stopped"),
    ("26", "failed", None, None),
]


@pytest.mark.parametrize(("ending", "status", "outcome", "reason"), ENDS)
def test_an_end_of_outreach_is_told_exactly_once(
    partner: Partner, receiver: Receiver, ending: str, status: str, outcome: str | None, reason: str | None
) -> None:
    request = reach_out(partner, receiver, ending, partner_request_id="p-1", purpose="refill")
    later(partner, 100 * 3600)
    (got,) = receiver.got
    assert got.headers["user-agent"] == "Service-AiOutbound/1.0"
    told = got.body
    assert (told["event"], told["status"]) == (f"ai_outbound.{status}", status)
    assert (told["outcome"], told["suppression_reason"]) == (outcome, reason)
    assert (told["request_id"], told["partner_request_id"]) == (request["id"], "p-1")
    assert (told["clinic_id"], told["channel"], told["purpose"]) == ("loc-001", "sms", "refill")
    assert told["completed_at"]
    assert told["timestamp"]
    assert (told["error_message"] is not None) == (status == "failed")
    kept = partner.page("ai_outbound/requests/p-1")
    assert {name: kept[name] for name in ("status", "outcome", "completed_at")} == {
        name: told[name] for name in ("status", "outcome", "completed_at")
    }


def test_silence_lasts_48_hours_after_the_first_text(partner: Partner, receiver: Receiver) -> None:
    reach_out(partner, receiver)
    later(partner, 100 * 3600)
    told = receiver.got[0].body
    silence = datetime.fromisoformat(told["completed_at"]) - datetime.fromisoformat(told["contacted_at"])
    assert silence == timedelta(hours=48)


def test_the_sweeper_comes_96_hours_after_creation(partner: Partner, receiver: Receiver) -> None:
    request = reach_out(partner, receiver, "26")
    later(partner, 100 * 3600)
    told = receiver.got[0].body
    age = datetime.fromisoformat(told["completed_at"]) - datetime.fromisoformat(request["created_at"])
    assert age == timedelta(hours=96)
    assert told["contacted_at"] is None


def test_a_suppression_at_intake_is_a_200_told_right_away(partner: Partner, receiver: Receiver) -> None:
    request = reach_out(partner, receiver, "39", channel="voice")
    assert (request["status"], request["suppression_reason"]) == ("suppressed", "voice_not_supported")
    assert receiver.events == ["ai_outbound.suppressed"]


def test_a_booking_is_told_with_its_appointment(partner: Partner, receiver: Receiver) -> None:
    client = partner.truth("clients")[0]
    partner.platform.advance(timedelta(days=1))
    partner.platform.update("loc-001", "clients", client["id"], {"phone": "+12125550123"})
    for name in ("phone_calls", "appointments", "ai_outbound"):
        for row in partner.truth(name):
            if row.get("client_id") == client["id"]:
                partner.platform.delete("loc-001", name, row["id"])
    reach_out(partner, receiver, client_id=client["id"], contact_number="+12125550123")
    later(partner, 30 * 3600)
    told = receiver.got[0].body
    assert (told["status"], told["outcome"]) == ("completed", "booked")
    booked = told["outcome_detail"]["appointment_id"]
    assert booked in {row["id"] for row in partner.truth("appointments")}


def test_a_second_request_within_72_hours_is_recent_contact(partner: Partner, receiver: Receiver) -> None:
    client = partner.truth("clients")[0]
    body = {"recipient": {"client_id": client["id"]}, "fallback_text": "Hi"}
    assert partner.http.post(f"{ROOT}/messages", json=body).status_code == 201
    request = reach_out(partner, receiver, client_id=client["id"], contact_number="+12125550139")
    assert request["suppression_reason"] == "recent_contact"


def test_stuck_webhooks_are_sent_by_the_hourly_reconciliation(partner: Partner, receiver: Receiver) -> None:
    """The clock starts at half past."""
    partner.platform.set(outreach_webhooks_stuck=True)
    reach_out(partner, receiver, "00")
    later(partner, 29 * 60)
    assert receiver.got == []
    later(partner, 2 * 60)
    assert receiver.events == ["ai_outbound.suppressed"]


def test_an_outcome_that_was_given_up_is_not_sent_again(partner: Partner, receiver: Receiver) -> None:
    receiver.answers = [500] * 3
    reach_out(partner, receiver, "00")
    later(partner, 2 * 3600)
    assert len(receiver.got) == 3


def test_one_address_gets_what_the_world_tells(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(webhooks_to=receiver.url)
    before = {row["id"] for row in partner.truth("ai_outbound") if row["completed_at"]}
    later(partner, 86_400)
    ended = {row["id"] for row in partner.truth("ai_outbound") if row["completed_at"]} - before
    told = [
        got.body for got in receiver.got if got.path == "/hook/ai_outbound" and got.body["clinic_id"] == "loc-001"
    ]
    assert {body["request_id"] for body in told} == ended
    appointments = {row["id"] for row in partner.truth("appointments")}
    booked = [body["outcome_detail"]["appointment_id"] for body in told if body["outcome"] == "booked"]
    assert set(booked) <= appointments
    reminders = [got.body for got in receiver.got if got.path == "/hook/service_reminders"]
    assert reminders
    for body in reminders:
        assert {"practice_id", "practice_name", "id", "client_id", "patient_id", "due_at"} <= set(body)
        assert body["group_status"] in {"completed", "partially_completed", "deleted", "incomplete"}
        assert body["reminders"]
        assert ("custom_fields" in body) == (body["practice_id"] != "loc-004")


def test_every_attempt_is_in_the_control_interface(partner: Partner, receiver: Receiver) -> None:
    send(partner, receiver)
    (attempt,) = partner.http.get("/_control/webhooks").json()["data"]
    assert (attempt["kind"], attempt["number"], attempt["status"]) == ("messages", 1, 200)
