"""Contract: Message status webhook."""

import pytest
from support.contract_breaks import UNHEEDED, hears, posts, tells
from support.hook_receiver import Receiver
from support.message_requests import RCS_PHONE, send, to
from support.partner_side import Partner, Row, made
from support.rules import broken_by, rule, rules

STATUS = "Events / Message status webhook"


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


def text(partner: Partner, receiver: Receiver, recipient: Row | None = None) -> Row:
    recipient = recipient or {"phone_number": RCS_PHONE}
    message = made(send(partner, recipient=recipient, reference_id="ref-1", callback_url=receiver.url))
    partner.platform.settle()
    return message


@rules(
    STATUS,
    "recipient statuses",
    ("message.sent, delivered, read", {"phone_number": RCS_PHONE}, ["sent", "delivered", "read"]),
    ("message.failed", to("02"), ["sent", "failed"]),
    ("message.suppressed, opted_out", to("00"), ["suppressed"]),
    ("message.suppressed, blocked_number", to("01"), ["suppressed"]),
)
@broken_by(
    posts(lambda sent: [sent, sent]),
    posts(lambda _: []),
    *(tells(**{name: "?"}) for name in ("event", "clinic_id", "reference_id", "status_reason", "error_code")),
    *(tells(**{name: "?"}) for name in ("channel_requested", "channel_used", "created_at")),
)
def test_each_status_is_sent_once_and_in_order_with_the_message(
    partner: Partner, receiver: Receiver, recipient: Row, statuses: list[str]
) -> None:
    """The first webhook has the message as it was created, the last one as it is at the end."""
    message = text(partner, receiver, recipient)
    partner.later(minutes=10)
    assert receiver.events == [f"message.{status}" for status in statuses]
    assert [body["status"] for body in receiver.bodies] == statuses
    assert receiver.bodies[0].items() >= message.items()
    assert receiver.bodies[-1].items() >= partner.page(f"messages/{message['id']}").items()
    assert {(body["clinic_id"], body["reference_id"]) for body in receiver.bodies} == {("loc-001", "ref-1")}


@rule(STATUS, says="occurred_at; event_id")
@broken_by(tells(occurred_at=lambda body: body["timestamp"]), tells(event_id="same"))
def test_every_delivery_has_its_id_and_the_time_at_which_the_status_changed(
    partner: Partner, receiver: Receiver
) -> None:
    """This also holds if the first attempts to deliver it failed."""
    receiver.answers = [500, 500]
    text(partner, receiver)
    partner.later(minutes=10)
    by_status = {body["status"]: body for body in receiver.bodies}
    for status in ("sent", "delivered", "read"):
        assert by_status[status]["occurred_at"] == by_status["read"][f"{status}_at"]
        assert by_status[status]["timestamp"] >= by_status[status]["occurred_at"]
    assert len({body["event_id"] for body in by_status.values()}) == 3


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
