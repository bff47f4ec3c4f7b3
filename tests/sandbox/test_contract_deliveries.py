"""Contract: Events and Authentication 7: the delivery of a webhook, whatever its content."""

import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from support.certificates import self_signed
from support.hook_receiver import Receiver, receiving
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


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate for this machine that only a test trusts, and its key."""
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secure(certificate: tuple[Path, Path]) -> Iterator[Receiver]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    with receiving(context) as receiver:
        yield receiver


@pytest.mark.parametrize(
    ("trusted", "host", "events"),
    [
        ("{certificate}", "localhost", ["message.suppressed"]),
        (None, "localhost", []),
        ("{certificate}", "127.0.0.1", []),
        ("/nowhere/ca.pem", "localhost", []),
    ],
    ids=["trusted", "not trusted by the system", "another host", "certificates that cannot be read"],
)
def test_the_certificate_of_a_receiver_is_verified(
    partner: Partner,
    certificate: tuple[Path, Path],
    secure: Receiver,
    trusted: str | None,
    host: str,
    events: list[str],
) -> None:
    path = trusted and trusted.format(certificate=certificate[0])
    partner.platform.set(webhook_certificates=path, http_callbacks=False)
    cause_message_webhook(partner, secure.url.replace("localhost", host))
    partner.later(minutes=1)
    assert secure.events == events
    answers = [attempt.status for attempt in partner.platform.webhooks]
    assert answers == ([200] if events else [None] * 3)
