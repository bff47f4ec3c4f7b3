"""Contract: Events and Authentication 7: the delivery of a webhook, whatever its content."""

import ssl
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from support.certificates import self_signed
from support.contract_breaks import SIGNATURE, UNHEEDED, Break, posts, posts_with, switched, tells
from support.hook_receiver import Receiver, receiving
from support.message_requests import send, to
from support.outreach_requests import number, reach_out
from support.partner_side import Partner
from support.rules import broken_as, broken_by, rule, rules

from sandbox import Handle, Switches
from sandbox.webhooks.posting import Letter

MESSAGES, OUTREACH = "Events / Message status webhook", "Events / AI outbound outcome webhook"
Cause = Callable[[Partner, str], None]


def cause_message_webhook(partner: Partner, url: str) -> None:
    """Cause one webhook: the message is suppressed at once."""
    send(partner, recipient=to("00"), callback_url=url)
    partner.platform.settle()


def cause_outreach_webhook(partner: Partner, url: str) -> None:
    """Cause one webhook: the request is suppressed at intake."""
    reach_out(partner, contact_number=number("00"), callback_url=url)


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


@rule(MESSAGES, says="headers", cause=cause_message_webhook, agent="Service-Messages/1.0")
@rule(OUTREACH, says="headers", cause=cause_outreach_webhook, agent="Service-AiOutbound/1.0")
@broken_by(posts_with("User-Agent", "python"), posts_with("Content-Type", "text/plain"))
def test_a_webhook_carries_its_headers(partner: Partner, receiver: Receiver, cause: Cause, agent: str) -> None:
    cause(partner, receiver.url)
    (got,) = receiver.got
    assert (got.headers["content-type"], got.headers["user-agent"]) == ("application/json", agent)
    assert got.body


@rule("Authentication", says="7: messages", cause=cause_message_webhook)
@rule("Authentication", says="7: outreach", cause=cause_outreach_webhook)
@broken_by(posts_with(SIGNATURE, str.upper), posts(lambda sent: [sent.with_content(sent.payload | {"extra": 1})]))
def test_the_signature_is_the_hmac_of_the_raw_body(partner: Partner, receiver: Receiver, cause: Cause) -> None:
    cause(partner, receiver.url)
    (got,) = receiver.got
    assert got.is_signed_with(partner.platform.webhook_secret)


@rule("Authentication", says="7: no secret")
@broken_by(posts_with(SIGNATURE, "0" * 64))
def test_a_practice_without_secret_signs_nothing(partner: Partner, receiver: Receiver) -> None:
    partner.platform.set(signed_webhooks=False)
    cause_message_webhook(partner, receiver.url)
    assert "x-webhook-signature" not in receiver.got[0].headers


@rule(MESSAGES, says="attempts", cause=cause_message_webhook)
@rule(OUTREACH, says="attempts", cause=cause_outreach_webhook)
@broken_by(tells(timestamp="2026-01-15T17:30:00Z"))
def test_three_attempts_wait_2_s_and_4_s(partner: Partner, receiver: Receiver, cause: Cause) -> None:
    receiver.answers = [500] * 9
    cause(partner, receiver.url)
    partner.later(minutes=10)
    sent = [datetime.fromisoformat(body["timestamp"]) for body in receiver.bodies]
    assert [(at - sent[0]).total_seconds() for at in sent] == [0, 2, 6]


@rule(MESSAGES, says="retries are one delivery")
@broken_by(tells(event_id=lambda _: uuid4().hex))
def test_an_attempt_repeats_the_same_delivery(partner: Partner, receiver: Receiver) -> None:
    receiver.answers = [500] * 2
    cause_message_webhook(partner, receiver.url)
    partner.later(minutes=10)
    assert len(receiver.bodies) == 3
    assert len({body["event_id"] for body in receiver.bodies}) == 1


@rule(MESSAGES, says="2xx", cause=cause_message_webhook)
@rule(OUTREACH, says="2xx", cause=cause_outreach_webhook)
@broken_by(UNHEEDED)
def test_a_2xx_and_nothing_else_acknowledges(partner: Partner, receiver: Receiver, cause: Cause) -> None:
    receiver.answers = [404, 204]
    cause(partner, receiver.url)
    partner.later(minutes=10)
    assert len(receiver.got) == 2


@rule(MESSAGES, says="time-out", cause=cause_message_webhook)
@rule(OUTREACH, says="time-out", cause=cause_outreach_webhook)
@broken_by(UNHEEDED)
def test_an_answer_that_comes_too_late_counts_as_none(partner: Partner, receiver: Receiver, cause: Cause) -> None:
    """The time-out is short here; the next test checks its real length."""
    partner.platform.set(webhook_timeout_seconds=0.05)
    receiver.held = threading.Event()
    try:
        cause(partner, receiver.url)
        partner.later(minutes=10)
    finally:
        receiver.held.set()
    assert len(receiver.got) > 1


@rule("Limits", says="10 s time-out")
@broken_by(switched(webhook_timeout_seconds=30))
def test_a_receiver_has_ten_seconds(partner: Partner) -> None:
    switches = partner.http.get("/_control/switches").json()["data"]
    assert switches["webhook_timeout_seconds"] == 10


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


@contextmanager
def careless(platform: Handle) -> Generator[None]:
    """Provide a sender that does not verify certificates."""

    def post(sent: Letter, _: Switches) -> int:
        return httpx.post(sent.url, content=sent.body, headers=sent.headers, verify=False).status_code

    platform.platform.events.deliveries.post = post
    yield


@rules(
    "Events",
    "trusted host events breaks",
    ("TLS: trusted", "{certificate}", "localhost", ["message.suppressed"], posts(lambda _: [])),
    ("TLS: the system does not trust it", None, "localhost", [], careless),
    ("TLS: another host", "{certificate}", "127.0.0.1", [], careless),
    ("TLS: certificates that cannot be read", "/nowhere/ca.pem", "localhost", [], careless),
)
@broken_as(lambda breaks: breaks)
def test_the_certificate_of_a_receiver_is_verified(
    partner: Partner,
    certificate: tuple[Path, Path],
    secure: Receiver,
    trusted: str | None,
    host: str,
    events: list[str],
    breaks: Break,
) -> None:
    assert breaks
    path = trusted and trusted.format(certificate=certificate[0])
    partner.platform.set(webhook_certificates=path, http_callbacks=False)
    cause_message_webhook(partner, secure.url.replace("localhost", host))
    partner.later(minutes=1)
    assert secure.events == events
    answers = [attempt.status for attempt in partner.platform.webhooks]
    assert answers == ([200] if events else [None] * 3)
