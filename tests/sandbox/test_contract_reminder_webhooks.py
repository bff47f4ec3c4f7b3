"""Contract: Service reminder webhook. The notification rules of the sandbox's practices trigger in the morning."""

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


@rule(REMINDER, says="payload; id; due_at; reminders; group_status")
@broken_by(
    tells(client_id=GONE),
    tells(reminders=[{"id": ""}]),
    tells(due_at="soon"),
    tells(group_status="late"),
    tells(id="same"),
)
def test_it_has_its_fields(partner: Partner, receiver: Receiver) -> None:
    sent = bodies(partner, receiver)
    assert len({body["id"] for body in sent}) == len(sent)
    for body in sent:
        assert set(body) - {"custom_fields", "timestamp"} == FIELDS
        assert all(body[name] for name in REQUIRED)
        assert ISO.fullmatch(body["due_at"])
        assert body["group_status"] in {"completed", "partially_completed", "deleted", "incomplete"}
        for reminder in body["reminders"]:
            assert set(reminder) == {"id", "code", "description", "due_at"}
            assert reminder["id"]
            assert all(isinstance(value, str) for value in reminder.values())
            assert ISO.fullmatch(reminder["due_at"])


@rule(REMINDER, says="people")
@broken_by(tells(client_id="0"))
def test_its_patient_is_one_of_its_client(partner: Partner, receiver: Receiver) -> None:
    for body in bodies(partner, receiver)[:10]:
        partner.act_for(body["practice_id"])
        answer = partner.get(f"patients/{body['patient_id']}")
        assert answer.status_code == 200
        assert answer.json()["data"]["client_id"] == body["client_id"]


@rule(REMINDER, says="custom_fields")
@broken_by(tells(custom_fields=GONE), tells(custom_fields={"server_id": "0", "client_id": "0"}))
def test_custom_fields_are_for_practices_with_a_server_id(partner: Partner, receiver: Receiver) -> None:
    """The fourth practice has none."""
    servers = {practice.id: practice.server_id for practice in partner.platform.practices}
    sent = bodies(partner, receiver)
    assert {body["practice_id"] for body in sent} == {"loc-001", "loc-002", "loc-004"}
    for body in sent:
        server = servers[body["practice_id"]]
        plain = body["remote_client_id"].removesuffix(f"-{server}")
        custom = {"server_id": server, "client_id": f"{plain}-{server}"} if server else None
        assert body.get("custom_fields") == custom


@rule(REMINDER, says="signature")
@broken_by(posts_with(SIGNATURE, "0" * 64))
def test_it_is_signed(partner: Partner, receiver: Receiver) -> None:
    secret = partner.platform.webhook_secret
    assert all(got.is_signed_with(secret) for got in a_morning(partner, receiver))


@rule(REMINDER, says="retried")
@broken_by(UNHEEDED)
def test_it_is_sent_again_if_it_was_not_acknowledged(partner: Partner, receiver: Receiver) -> None:
    """The contract does not show how often."""
    receiver.answers = [500] * 20
    ids = [body["id"] for body in bodies(partner, receiver)]
    assert len(set(ids)) < len(ids)
