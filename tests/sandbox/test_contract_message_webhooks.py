"""Contract: Message status webhook."""

from datetime import datetime
from itertools import pairwise

import pytest
from support.contract_breaks import UNHEEDED, hears, posts, posts_with, tells
from support.hook_receiver import Receiver
from support.message_requests import RCS_PHONE, send, to
from support.partner_side import Partner, Row, made
from support.rules import broken_as, broken_by, rule, rules

STATUS = "Events / Message status webhook"
SUPPRESSED = to("00")


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


def text(partner: Partner, receiver: Receiver, recipient: Row | None = None) -> Row:
    recipient = recipient or {"phone_number": RCS_PHONE}
    message = made(send(partner, recipient=recipient, reference_id="ref-1", callback_url=receiver.url))
    partner.platform.settle()
    return message


@rule(STATUS, says="on each status change")
@broken_by(posts(lambda sent: [sent, sent]), posts(lambda _: []))
def test_each_status_is_sent_once_and_in_order(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver)
    partner.later(minutes=10)
    assert receiver.events == ["message.sent", "message.delivered", "message.read"]


@rules(
    STATUS,
    "recipient events",
    ("event", {"phone_number": RCS_PHONE}, ["message.sent", "message.delivered", "message.read"]),
    ("message.failed", to("02"), ["message.sent", "message.failed"]),
    ("message.suppressed", SUPPRESSED, ["message.suppressed"]),
)
@broken_by(tells(event="message.changed"))
def test_an_event_is_named_after_its_status(
    partner: Partner, receiver: Receiver, recipient: Row, events: list[str]
) -> None:
    text(partner, receiver, recipient)
    partner.later(minutes=10)
    assert receiver.events == events
    assert [f"message.{body['status']}" for body in receiver.bodies] == events


@rule(STATUS, says="all fields of the message")
@broken_by(tells(channel_requested="fax"))
def test_it_carries_the_message_as_it_is(partner: Partner, receiver: Receiver) -> None:
    message = text(partner, receiver)
    partner.later(minutes=10)
    assert receiver.bodies[0].items() >= message.items()
    assert receiver.bodies[-1].items() >= partner.page(f"messages/{message['id']}").items()


@rule(STATUS, says="clinic_id", name="clinic_id", value="loc-001")
@rule(STATUS, says="reference_id", name="reference_id", value="ref-1")
@rule(STATUS, says="channel_used", name="channel_used", value=None)
@broken_as(lambda name: tells(**{name: "?"}))
def test_the_webhook_has_this_field(partner: Partner, receiver: Receiver, name: str, value: str | None) -> None:
    """The message was just sent, with channel `auto`."""
    text(partner, receiver)
    assert receiver.bodies[0].get(name, "missing") == value


@rule(STATUS, says="occurred_at")
@broken_by(tells(occurred_at=lambda body: body["timestamp"]))
def test_occurred_at_is_when_the_status_changed(partner: Partner, receiver: Receiver) -> None:
    """This also holds if the first attempts to deliver it failed."""
    receiver.answers = [500, 500]
    text(partner, receiver)
    partner.later(minutes=10)
    by_status = {body["status"]: body for body in receiver.bodies}
    for status in ("sent", "delivered", "read"):
        assert by_status[status]["occurred_at"] == by_status["read"][f"{status}_at"]
        assert by_status[status]["timestamp"] >= by_status[status]["occurred_at"]


@rule(STATUS, says="event_id")
@broken_by(tells(event_id="same"))
def test_every_delivery_has_its_own_event_id(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver)
    partner.later(minutes=10)
    assert len({body["event_id"] for body in receiver.bodies}) == len(receiver.bodies) == 3


@rule(STATUS, says="error_code; error_message")
@broken_by(tells(error_code=None))
def test_a_failure_says_why(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver, to("02"))
    partner.later(minutes=10)
    assert receiver.bodies[-1]["error_code"]
    assert receiver.bodies[-1]["error_message"]


@rule(STATUS, says="opted_out", ending="00", reason="opted_out")
@rule(STATUS, says="blocked_number", ending="01", reason="blocked_number")
@broken_by(tells(status_reason=None))
def test_a_suppression_is_confirmed_with_its_reason(
    partner: Partner, receiver: Receiver, ending: str, reason: str
) -> None:
    message = text(partner, receiver, to(ending))
    assert message["status"] == "suppressed"
    assert [body["status_reason"] for body in receiver.bodies] == [reason]


@rule(STATUS, says="only the latest is sent")
@broken_by(tells(event=lambda body: body["event"].replace("delivered", "read")))
def test_a_status_that_was_passed_during_a_delivery_is_skipped(partner: Partner, receiver: Receiver) -> None:
    """`sent` fails three times, until 6 s, and so does `delivered`, which waited for it from 3 s on."""
    receiver.answers = [500] * 3
    text(partner, receiver)
    partner.later(seconds=30)
    assert receiver.events == ["message.sent"] * 3 + ["message.delivered"]


@rule(STATUS, says="the next status change")
@broken_by(UNHEEDED)
def test_after_three_failures_the_next_change_sends_the_latest(partner: Partner, receiver: Receiver) -> None:
    receiver.answers = [500] * 6
    text(partner, receiver)
    partner.later(minutes=10)
    assert receiver.events == ["message.sent"] * 3 + ["message.delivered"] * 3 + ["message.read"]


@rule(STATUS, says="callback_url")
@broken_by(hears("messages", callback_url="https://127.0.0.1:9/"))
def test_no_webhook_is_sent_without_a_callback_address(partner: Partner, receiver: Receiver) -> None:
    made(send(partner))
    partner.later(minutes=10)
    assert receiver.got == []
    assert partner.platform.webhooks == []


@rule(STATUS, says="order")
@broken_by(tells(occurred_at=lambda body: body["created_at"]))
def test_sent_statuses_only_move_forward(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver)
    partner.later(minutes=10)
    times = [datetime.fromisoformat(body["occurred_at"]) for body in receiver.bodies]
    assert len(times) == 3
    assert all(earlier < later for earlier, later in pairwise(times))


@rule(STATUS, says="User-Agent")
@broken_by(posts_with("User-Agent", "python"))
def test_it_names_itself(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver)
    assert receiver.got[0].headers["user-agent"] == "Service-Messages/1.0"
