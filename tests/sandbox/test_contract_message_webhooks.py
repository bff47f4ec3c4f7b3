"""Contract: Message status webhook."""

from datetime import datetime
from itertools import pairwise

import pytest
from support.breaking import edited
from support.hook_receiver import Receiver
from support.partner_side import Partner, Row, made
from support.rules import rule
from support.texting import RCS_PHONE, send, to

STATUS = "Events / Message status webhook"
CHANGED, FINISHED = (
    "webhooks.message_status:MessageStatusWebhooks.changed",
    "webhooks.message_status:MessageStatusWebhooks._finished",
)
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


@rule(
    STATUS,
    edited(CHANGED, "if url is None or", 'if url is None or message.status == "delivered" or'),
    edited(FINISHED, "self._busy.discard(message.id)", "pass"),
    says="on each status change",
)
def test_each_status_is_told_once_and_in_order(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver)
    partner.later(minutes=10)
    assert receiver.events == ["message.sent", "message.delivered", "message.read"]


@rule(
    STATUS,
    edited(CHANGED, '"message.{message.status}"', '"message.changed"'),
    says="event",
    recipient={"phone_number": RCS_PHONE},
    events=["message.sent", "message.delivered", "message.read"],
)
@rule(
    STATUS,
    edited(CHANGED, "if url is None or", 'if url is None or message.status == "failed" or'),
    says="message.failed",
    recipient=to("02"),
    events=["message.sent", "message.failed"],
)
@rule(
    STATUS,
    edited(CHANGED, "if url is None or", 'if url is None or message.status == "suppressed" or'),
    says="message.suppressed",
    recipient=SUPPRESSED,
    events=["message.suppressed"],
)
def test_an_event_is_named_after_its_status(
    partner: Partner, receiver: Receiver, recipient: Row, events: list[str]
) -> None:
    text(partner, receiver, recipient)
    partner.later(minutes=10)
    assert receiver.events == events
    assert [f"message.{body['status']}" for body in receiver.bodies] == events


@rule(STATUS, edited(CHANGED, "message.record | {", "{"), says="all fields of the message")
def test_it_carries_the_message_as_it_is(partner: Partner, receiver: Receiver) -> None:
    message = text(partner, receiver)
    partner.later(minutes=10)
    assert receiver.bodies[0].items() >= message.items()
    assert receiver.bodies[-1].items() >= partner.page(f"messages/{message['id']}").items()


@rule(
    STATUS,
    edited(CHANGED, '"clinic_id": message.practice_id', '"clinic_id": message.id'),
    says="clinic_id",
    name="clinic_id",
    value="loc-001",
)
@rule(
    STATUS,
    edited(CHANGED, "message.record | {", 'message.record | {"reference_id": None} | {'),
    says="reference_id",
    name="reference_id",
    value="ref-1",
)
@rule(
    STATUS,
    edited(CHANGED, "message.record | {", 'message.record | {"channel_used": "rcs"} | {'),
    says="channel_used",
    name="channel_used",
    value=None,
)
def test_it_tells(partner: Partner, receiver: Receiver, name: str, value: str | None) -> None:
    """Of a message that was just sent, with channel `auto`."""
    text(partner, receiver)
    assert receiver.bodies[0].get(name, "missing") == value


@rule(
    STATUS,
    edited(CHANGED, '"occurred_at": message.changed_at', '"occurred_at": None'),
    edited(CHANGED, "message.changed_at", 'message.record["created_at"]'),
    says="occurred_at",
)
def test_occurred_at_is_when_the_status_changed(partner: Partner, receiver: Receiver) -> None:
    """Also where the first attempts to tell it failed."""
    receiver.answers = [500, 500]
    text(partner, receiver)
    partner.later(minutes=10)
    told = {body["status"]: body for body in receiver.bodies}
    for status in ("sent", "delivered", "read"):
        assert told[status]["occurred_at"] == told["read"][f"{status}_at"]
        assert told[status]["timestamp"] >= told[status]["occurred_at"]


@rule(STATUS, edited(CHANGED, 'f"evt_{uuid4().hex}"', '"evt_1"'), says="event_id")
def test_every_delivery_has_its_own_event_id(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver)
    partner.later(minutes=10)
    assert len({body["event_id"] for body in receiver.bodies}) == len(receiver.bodies) == 3


@rule(
    STATUS, edited(CHANGED, "message.record | {", 'message.record | {"error_code": None} | {'), says="error_code"
)
@rule(
    STATUS,
    edited(CHANGED, "message.record | {", 'message.record | {"error_message": None} | {'),
    says="error_message",
)
def test_a_failure_says_why(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver, to("02"))
    partner.later(minutes=10)
    assert receiver.bodies[-1]["error_code"]
    assert receiver.bodies[-1]["error_message"]


REASON = edited(CHANGED, "message.record | {", 'message.record | {"status_reason": None} | {')


@rule(STATUS, REASON, says="opted_out", ending="00", reason="opted_out")
@rule(STATUS, REASON, says="blocked_number", ending="01", reason="blocked_number")
def test_a_suppression_is_confirmed_with_its_reason(
    partner: Partner, receiver: Receiver, ending: str, reason: str
) -> None:
    message = text(partner, receiver, to(ending))
    assert message["status"] == "suppressed"
    assert [body["status_reason"] for body in receiver.bodies] == [reason]


BUSY = "message.id in self._busy or"


@rule(
    STATUS,
    edited(FINISHED, "self.changed(message)", "pass"),
    edited(CHANGED, BUSY, ""),
    says="only the latest is sent",
)
def test_a_status_that_was_passed_during_a_delivery_is_skipped(partner: Partner, receiver: Receiver) -> None:
    """`sent` fails three times, until 6 s, and so does `delivered`, which waited for it from 3 s on."""
    receiver.answers = [500] * 3
    text(partner, receiver)
    partner.later(seconds=30)
    assert receiver.events == ["message.sent"] * 3 + ["message.delivered"]


@rule(
    STATUS,
    edited(CHANGED, "self._told[message.id] = message.place", "self._told[message.id] = 9"),
    says="the next status change",
)
def test_after_three_failures_the_next_change_sends_the_latest(partner: Partner, receiver: Receiver) -> None:
    receiver.answers = [500] * 6
    text(partner, receiver)
    partner.later(minutes=10)
    assert receiver.events == ["message.sent"] * 3 + ["message.delivered"] * 3 + ["message.read"]


@rule(STATUS, edited(CHANGED, "message.callback_url", '"http://127.0.0.1:1/"'), says="callback_url")
def test_nothing_is_told_without_a_callback_address(partner: Partner, receiver: Receiver) -> None:
    made(send(partner))
    partner.later(minutes=10)
    assert receiver.got == []
    assert partner.platform.webhooks == []


@rule(STATUS, edited(CHANGED, "message.changed_at", 'message.record["created_at"]'), says="order")
def test_what_is_told_only_moves_forward(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver)
    partner.later(minutes=10)
    times = [datetime.fromisoformat(body["occurred_at"]) for body in receiver.bodies]
    assert len(times) == 3
    assert all(earlier < later for earlier, later in pairwise(times))


@rule(
    STATUS,
    *(edited(CHANGED, "USER_AGENT", f'"{other}"') for other in ("Service-Messages/2.0", "python")),
    says="User-Agent",
)
def test_it_names_itself(partner: Partner, receiver: Receiver) -> None:
    text(partner, receiver)
    assert receiver.got[0].headers["user-agent"] == "Service-Messages/1.0"
