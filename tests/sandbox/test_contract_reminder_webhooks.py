"""Contract: Service reminder webhook. The notification rules of the sandbox's practices trigger in the morning."""

import hashlib
import hmac

from support.contract_breaks import GONE, SIGNATURE, UNHEEDED, posts_with, tells
from support.hook_receiver import Got, Receiver
from support.partner_side import Partner, Row
from support.rows_by_id import ISO
from support.rules import broken_by, rule

REMINDER = "Events / Service reminder webhook"
REQUIRED = {"practice_id", "practice_name", "id", "client_id", "patient_id", "due_at", "reminders", "group_status"}
FIELDS = REQUIRED | {"remote_client_id", "remote_patient_id", "notification_rule_name"}


def a_morning(partner: Partner, receiver: Receiver) -> list[Got]:
    """Return the reminders of a morning: it begins in London, and goes on in New York and Phoenix."""
    partner.later(hours=15)
    partner.platform.set(webhooks_to=receiver.url)
    partner.later(hours=10)
    reminders = [got for got in receiver.got if got.path == "/hook/service_reminders"]
    assert len(reminders) > 5
    return reminders


def bodies(partner: Partner, receiver: Receiver) -> list[Row]:
    return [got.body for got in a_morning(partner, receiver)]


@rule(REMINDER, says="payload")
@broken_by(tells(client_id=GONE))
def test_it_has_its_fields(partner: Partner, receiver: Receiver) -> None:
    for body in bodies(partner, receiver):
        assert set(body) - {"custom_fields", "timestamp"} == FIELDS
        assert all(body[name] for name in REQUIRED)


@rule(REMINDER, says="reminders")
@broken_by(tells(reminders=[{"id": ""}]))
def test_its_reminders_have_their_fields(partner: Partner, receiver: Receiver) -> None:
    for body in bodies(partner, receiver):
        for reminder in body["reminders"]:
            assert set(reminder) == {"id", "code", "description", "due_at"}
            assert reminder["id"]
            assert all(isinstance(value, str) for value in reminder.values())
            assert ISO.fullmatch(reminder["due_at"])


@rule(REMINDER, says="due_at")
@broken_by(tells(due_at="soon"))
def test_due_at_is_iso_8601(partner: Partner, receiver: Receiver) -> None:
    assert all(ISO.fullmatch(body["due_at"]) for body in bodies(partner, receiver))


@rule(REMINDER, says="group_status")
@broken_by(tells(group_status="late"))
def test_the_group_status_is_one_of_four(partner: Partner, receiver: Receiver) -> None:
    statuses = {body["group_status"] for body in bodies(partner, receiver)}
    assert statuses <= {"completed", "partially_completed", "deleted", "incomplete"}


@rule(REMINDER, says="people")
@broken_by(tells(client_id="0"))
def test_its_patient_is_one_of_its_client(partner: Partner, receiver: Receiver) -> None:
    for body in bodies(partner, receiver)[:10]:
        partner.act_for(body["practice_id"])
        answer = partner.get(f"patients/{body['patient_id']}")
        assert answer.status_code == 200
        assert answer.json()["data"]["client_id"] == body["client_id"]


@rule(REMINDER, says="custom_fields")
@broken_by(tells(custom_fields=GONE))
def test_custom_fields_are_for_practices_with_a_server_id(partner: Partner, receiver: Receiver) -> None:
    """The fourth practice has none."""
    by_practice = {body["practice_id"]: "custom_fields" in body for body in bodies(partner, receiver)}
    assert by_practice == {"loc-001": True, "loc-002": True, "loc-004": False}


@rule(REMINDER, says="custom_fields, composite")
@broken_by(tells(custom_fields={"server_id": "0", "client_id": "0"}))
def test_the_composite_client_id_ends_with_the_server_id(partner: Partner, receiver: Receiver) -> None:
    servers = {practice.id: practice.server_id for practice in partner.platform.practices}
    for body in bodies(partner, receiver):
        custom = body.get("custom_fields")
        if custom is not None:
            server = servers[body["practice_id"]]
            plain = body["remote_client_id"].removesuffix(f"-{server}")
            assert custom == {"server_id": server, "client_id": f"{plain}-{server}"}


@rule(REMINDER, says="signature")
@broken_by(posts_with(SIGNATURE, "0" * 64))
def test_it_is_signed(partner: Partner, receiver: Receiver) -> None:
    secret = partner.platform.webhook_secret.encode()
    for got in a_morning(partner, receiver):
        signature = hmac.new(secret, got.raw, hashlib.sha256).hexdigest()
        assert got.headers.get("x-webhook-signature") == signature


@rule(REMINDER, says="id")
@broken_by(tells(id="same"))
def test_each_group_has_its_id(partner: Partner, receiver: Receiver) -> None:
    ids = [body["id"] for body in bodies(partner, receiver)]
    assert len(set(ids)) == len(ids)


@rule(REMINDER, says="retried")
@broken_by(UNHEEDED)
def test_it_is_sent_again_if_it_was_not_acknowledged(partner: Partner, receiver: Receiver) -> None:
    """The contract does not show how often."""
    receiver.answers = [500] * 20
    ids = [body["id"] for body in bodies(partner, receiver)]
    assert len(set(ids)) < len(ids)
