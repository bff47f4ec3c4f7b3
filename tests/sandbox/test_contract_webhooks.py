"""Contract: Message status webhook; AI outbound outcome webhook; Service reminder webhook.

The notification rules of the sandbox's practices trigger in the morning.
"""

import pytest
from support.hook_receiver import Got, Receiver
from support.partner_requests import RCS_PHONE, REQUESTS, newcomer, number, reach_out, send, to
from support.partner_side import ISO, Partner, Row, made


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


def test_every_delivery_has_its_id_and_the_time_of_the_change(partner: Partner, receiver: Receiver) -> None:
    """This also holds if the first attempts to deliver it failed."""
    receiver.answers = [500, 500]
    text(partner, receiver)
    partner.later(minutes=10)
    by_status = {body["status"]: body for body in receiver.bodies}
    for status in ("sent", "delivered", "read"):
        assert by_status[status]["occurred_at"] == by_status["read"][f"{status}_at"]
        assert by_status[status]["timestamp"] >= by_status[status]["occurred_at"]
    assert len({body["event_id"] for body in by_status.values()}) == 3


FOUR_DAYS = 97
FIELDS = {
    "event", "request_id", "partner_request_id", "clinic_id", "channel", "purpose", "status", "outcome",
    "outcome_detail", "suppression_reason", "error_message", "client_id", "patient_id", "contacted_at",
    "completed_at", "timestamp",
}  # fmt: skip


@pytest.mark.parametrize(
    ("ending", "status", "outcome", "reason"),
    [
        ("39", "completed", "no_response", None),
        ("23", "completed", "booked", None),
        ("21", "suppressed", None, "client_inactive"),
        ("01", "failed", "undeliverable", None),
        ("26", "failed", None, None),
    ],
)
def test_a_request_has_one_webhook_with_its_end(
    partner: Partner, receiver: Receiver, ending: str, status: str, outcome: str | None, reason: str | None
) -> None:
    client = newcomer(partner, number(ending))
    people = {"client_id": client["id"], "patient_id": client["patients"][0]["id"]}
    more = {"partner_request_id": "p-1", "purpose": "refill", "callback_url": receiver.url}
    made(reach_out(partner, contact_number=number(ending), **people, **more))
    partner.later(hours=FOUR_DAYS)
    (body,) = receiver.bodies
    request = partner.page(f"{REQUESTS}/p-1")

    assert set(body) == FIELDS
    assert body.items() >= {name: request[name] for name in FIELDS & request.keys()}.items()
    assert body.items() >= people.items()
    assert (body["event"], body["status"]) == (f"ai_outbound.{status}", status)
    assert (body["outcome"], body["suppression_reason"]) == (outcome, reason)
    assert (body["request_id"], body["clinic_id"]) == (request["id"], "loc-001")
    assert (body["error_message"] is not None) == (status == "failed")
    assert all(ISO.fullmatch(body[name]) for name in ("completed_at", "timestamp"))
    assert body["outcome_detail"] == booked(partner)


def booked(partner: Partner) -> Row | None:
    """Return the newcomer's appointment as the webhook names it."""
    rows = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    ids = [row["id"] for row in rows if row["remote_client_id"] == "77"]
    return {"appointment_id": ids[0]} if ids else None


REMINDER_REQUIRED = {
    "practice_id", "practice_name", "id", "client_id", "patient_id", "due_at", "reminders", "group_status",
}  # fmt: skip
REMINDER_FIELDS = REMINDER_REQUIRED | {"remote_client_id", "remote_patient_id", "notification_rule_name"}


def a_morning(partner: Partner, receiver: Receiver) -> list[Got]:
    """Return the reminders of a morning: it begins in London, and goes on in New York and Phoenix."""
    partner.later(hours=15)
    partner.platform.set(webhooks_to=receiver.url)
    partner.later(hours=10)
    reminders = [got for got in receiver.got if got.path == "/hook/service_reminders"]
    assert len(reminders) > 5
    return reminders


def test_reminders_have_their_fields_and_are_signed(partner: Partner, receiver: Receiver) -> None:
    reminders = a_morning(partner, receiver)
    sent = [got.body for got in reminders]
    assert all(got.is_signed_with(partner.platform.webhook_secret) for got in reminders)
    assert len({body["id"] for body in sent}) == len(sent)
    for body in sent:
        assert set(body) - {"custom_fields", "timestamp"} == REMINDER_FIELDS
        assert all(body[name] for name in REMINDER_REQUIRED)
        assert ISO.fullmatch(body["due_at"])
        assert body["group_status"] in {"completed", "partially_completed", "deleted", "incomplete"}
        for reminder in body["reminders"]:
            assert set(reminder) == {"id", "code", "description", "due_at"}
            assert reminder["id"]
            assert all(isinstance(value, str) for value in reminder.values())
            assert ISO.fullmatch(reminder["due_at"])
