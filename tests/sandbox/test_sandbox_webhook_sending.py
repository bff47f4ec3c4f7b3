"""The sending of webhooks: the world's own events, side by side, over TLS to receivers with a certificate."""

import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.hook_receiver import Receiver, receiving
from support.message_requests import send
from support.partner_side import ROOT, Partner

MOST_SECONDS = 20


def text(partner: Partner, url: str, phone: str = "+12125550139") -> int:
    body = {"recipient": {"phone_number": phone}, "fallback_text": "Hi", "callback_url": url}
    return partner.http.post(f"{ROOT}/messages", json=body).status_code


def soon(receiver: Receiver) -> bool:
    """Return whether it gets something while nobody moves the clock."""
    deadline = time.monotonic() + MOST_SECONDS
    while not receiver.got and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(receiver.got)


def test_a_slow_receiver_keeps_no_other_waiting(partner: Partner) -> None:
    partner.platform.set(http_callbacks=True)
    with receiving() as slow, receiving() as quick:
        slow.held = threading.Event()
        text(partner, slow.url)
        assert soon(slow)
        text(partner, quick.url)
        assert soon(quick)
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
            text(partner, receiver.url, "+12125550138")
        partner.platform.advance(timedelta(minutes=5))
        for receiver in receivers:
            assert receiver.events == ["message.sent", "message.delivered", "message.read"]
    log = partner.platform.webhooks
    assert [attempt.at for attempt in log] == sorted(attempt.at for attempt in log)
    assert len({attempt.at for attempt in log}) <= 8 + 2 * 8


def made(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate authority of our own, and a certificate of `localhost` by it."""
    folder = tmp_path_factory.mktemp("authority")
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    made(folder, "req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Our authority")
    made(folder, "req", *new, "-keyout", "host.key", "-out", "host.csr", "-subj", "/CN=localhost")
    signed_by = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
    made(folder, "x509", "-req", "-in", "host.csr", *signed_by, "-out", "host.pem")
    return folder


@pytest.fixture
def secure(authority: Path) -> Iterator[Receiver]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "host.pem", authority / "host.key")
    with receiving(context) as receiver:
        yield receiver


def test_a_trusted_certificate_is_sent_to(partner: Partner, secure: Receiver, authority: Path) -> None:
    partner.platform.set(webhook_certificates=str(authority / "ca.pem"))
    assert text(partner, secure.url) == 201
    partner.platform.advance(timedelta(seconds=60))
    assert secure.events == ["message.sent", "message.delivered"]
    assert [attempt.status for attempt in partner.platform.webhooks] == [200, 200]


def test_an_untrusted_certificate_gets_nothing(partner: Partner, secure: Receiver) -> None:
    assert text(partner, secure.url) == 201
    partner.platform.advance(timedelta(seconds=60))
    assert secure.got == []
    assert [attempt.status for attempt in partner.platform.webhooks] == [None] * 6


def test_a_certificate_of_another_name_gets_nothing(partner: Partner, secure: Receiver, authority: Path) -> None:
    partner.platform.set(webhook_certificates=str(authority / "ca.pem"))
    assert text(partner, secure.url.replace("localhost", "127.0.0.1")) == 201
    partner.platform.settle()
    assert secure.got == []


def test_certificates_that_cannot_be_read_certify_nobody(partner: Partner, secure: Receiver) -> None:
    partner.platform.set(webhook_certificates="/nowhere/ca.pem")
    text(partner, secure.url)
    partner.platform.settle()
    assert [attempt.status for attempt in partner.platform.webhooks] == [None]


@pytest.mark.parametrize(("switched", "status"), [({}, 400), ({"http_callbacks": True}, 201)])
def test_http_is_taken_by_a_switch_only(
    partner: Partner, receiver: Receiver, switched: dict[str, Any], status: int
) -> None:
    partner.platform.set(**switched)
    assert text(partner, receiver.url) == status


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
    assert [got for got in receiver.got if got.path == "/hook/service_reminders"]


def test_every_attempt_is_in_the_control_interface(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(http_callbacks=True)
    send(partner, callback_url=receiver.url)
    partner.platform.settle()
    (attempt,) = partner.http.get("/_control/webhooks").json()["data"]
    assert (attempt["kind"], attempt["number"], attempt["status"]) == ("messages", 1, 200)
