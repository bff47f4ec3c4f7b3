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


def test_a_queued_webhook_is_sent_within_the_hour(partner: Partner, receiver: Receiver) -> None:
    """The clock starts at half past."""
    partner.platform.set(outreach_webhooks_stuck=True)
    reach_out(partner, contact_number=number("00"), callback_url=receiver.url)
    partner.later(minutes=15)
    assert receiver.got == []
    partner.later(minutes=45)
    assert receiver.events == ["ai_outbound.suppressed"]
    partner.later(hours=5)
    assert len(receiver.got) == 1


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


def test_reminders_name_people_and_servers_of_their_practice(partner: Partner, receiver: Receiver) -> None:
    """Custom fields are for practices with a server id; the fourth practice has none."""
    servers = {practice.id: practice.server_id for practice in partner.platform.practices}
    sent = [got.body for got in a_morning(partner, receiver)]
    assert {body["practice_id"] for body in sent} == {"loc-001", "loc-002", "loc-004"}
    for body in sent:
        partner.act_for(body["practice_id"])
        assert partner.page(f"patients/{body['patient_id']}")["client_id"] == body["client_id"]
        server = servers[body["practice_id"]]
        plain = body["remote_client_id"].removesuffix(f"-{server}")
        custom = {"server_id": server, "client_id": f"{plain}-{server}"} if server else None
        assert body.get("custom_fields") == custom


def test_a_reminder_is_sent_again_if_it_was_not_acknowledged(partner: Partner, receiver: Receiver) -> None:
    """The contract does not show how often."""
    receiver.answers = [500] * 20
    ids = [got.body["id"] for got in a_morning(partner, receiver)]
    assert len(set(ids)) < len(ids)
