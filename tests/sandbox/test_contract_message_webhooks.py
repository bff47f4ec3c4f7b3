"""Contract: Message status webhook."""

import pytest
from support.hook_receiver import Receiver
from support.message_requests import RCS_PHONE, send, to
from support.outreach_requests import number, reach_out
from support.partner_side import Partner, Row, made


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


def text(partner: Partner, receiver: Receiver, recipient: Row | None = None) -> Row:
    recipient = recipient or {"phone_number": RCS_PHONE}
    message = made(send(partner, recipient=recipient, reference_id="ref-1", callback_url=receiver.url))
    partner.platform.settle()
    return message


@pytest.mark.parametrize(
    ("recipient", "statuses"),
    [
        ({"phone_number": RCS_PHONE}, ["sent", "delivered", "read"]),
        (to("02"), ["sent", "failed"]),
        (to("00"), ["suppressed"]),
    ],
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


@pytest.mark.parametrize(
    ("failures", "events"),
    [(3, ["sent"] * 3 + ["delivered"]), (6, ["sent"] * 3 + ["delivered"] * 3 + ["read"])],
)
def test_after_three_failures_the_next_change_sends_the_latest_status(
    partner: Partner, receiver: Receiver, failures: int, events: list[str]
) -> None:
    """`sent` fails three times, until 6 s, and so does `delivered`, which waited for it from 3 s on."""
    receiver.answers = [500] * failures
    text(partner, receiver)
    partner.later(seconds=30 if failures == 3 else 600)
    assert receiver.events == [f"message.{event}" for event in events]


def test_no_webhook_is_sent_without_a_callback_address(partner: Partner) -> None:
    made(send(partner))
    made(reach_out(partner, contact_number=number("00")))
    partner.later(minutes=10)
    assert partner.platform.webhooks == []
