"""Contract: Service reminder webhook. The notification rules of the sandbox's practices trigger in the morning."""

import hashlib
import hmac

from support.breaking import edited, replaced
from support.hook_receiver import Got, Receiver
from support.partner_side import Partner, Row
from support.rules import rule
from support.shapes import ISO

REMINDER = "Events / Service reminder webhook"
REQUIRED = {"practice_id", "practice_name", "id", "client_id", "patient_id", "due_at", "reminders", "group_status"}
FIELDS = REQUIRED | {"remote_client_id", "remote_patient_id", "notification_rule_name"}


def a_morning(partner: Partner, receiver: Receiver) -> list[Got]:
    """The reminders of a morning: it begins in London, and goes on in New York and Phoenix."""
    partner.later(hours=15)
    partner.platform.set(webhooks_to=receiver.url)
    partner.later(hours=10)
    found = [got for got in receiver.got if got.path == "/hook/service_reminders"]
    assert len(found) > 5
    return found


def bodies(partner: Partner, receiver: Receiver) -> list[Row]:
    return [got.body for got in a_morning(partner, receiver)]


@rule(
    REMINDER,
    *(
        edited("webhooks.reminders:_payload", f'        "{name}": ', f'        "{name}_": ')
        for name in (
            "practice_name",
            "remote_client_id",
            "patient_id",
            "notification_rule_name",
            "group_status",
        )
    ),
    says="payload",
)
def test_it_has_its_fields(partner: Partner, receiver: Receiver) -> None:
    for body in bodies(partner, receiver):
        assert set(body) - {"custom_fields", "timestamp"} == FIELDS
        assert all(body[name] for name in REQUIRED)


SERVICES = '"code": _SERVICES[service][0],'


@rule(
    REMINDER,
    edited("webhooks.reminders:_payload", SERVICES, f'{SERVICES} "priority": 1,'),
    edited("webhooks.reminders:_payload", SERVICES, '"code": 7,'),
    edited("webhooks.reminders:_payload", '"due_at": stamp(due)', '"due_at": "soon"'),
    edited("webhooks.reminders:_payload", '"id": opaque("rem", group + place)', '"id": ""'),
    says="reminders",
)
def test_its_reminders_have_their_fields(partner: Partner, receiver: Receiver) -> None:
    for body in bodies(partner, receiver):
        for reminder in body["reminders"]:
            assert set(reminder) == {"id", "code", "description", "due_at"}
            assert reminder["id"]
            assert all(isinstance(value, str) for value in reminder.values())
            assert ISO.fullmatch(reminder["due_at"])


@rule(
    REMINDER,
    edited("webhooks.reminders:_payload", '        "due_at": due,', '        "due_at": day.strftime("%d.%m.%Y"),'),
    says="due_at",
)
def test_due_at_is_iso_8601(partner: Partner, receiver: Receiver) -> None:
    assert all(ISO.fullmatch(body["due_at"]) for body in bodies(partner, receiver))


@rule(
    REMINDER,
    edited("webhooks.reminders:_payload", '"group_status": str(', '"group_status": "open" + str('),
    says="group_status",
)
def test_the_group_status_is_one_of_four(partner: Partner, receiver: Receiver) -> None:
    statuses = {body["group_status"] for body in bodies(partner, receiver)}
    assert statuses <= {"completed", "partially_completed", "deleted", "incomplete"}


@rule(
    REMINDER,
    edited("webhooks.reminders:_payload", '"client_id": str(client["number"])', '"client_id": "1"'),
    edited("webhooks.reminders:_payload", '"patient_id": str(patient["number"])', '"patient_id": "1"'),
    says="people",
)
def test_its_patient_is_one_of_its_client(partner: Partner, receiver: Receiver) -> None:
    for body in bodies(partner, receiver)[:10]:
        partner.act_for(body["practice_id"])
        answer = partner.get(f"patients/{body['patient_id']}")
        assert answer.status_code == 200
        assert answer.json()["data"]["client_id"] == body["client_id"]


@rule(
    REMINDER,
    edited("webhooks.reminders:_payload", "if practice.server_id is None:", "if True:"),
    edited("webhooks.reminders:_payload", "if practice.server_id is None:", "if False:"),
    says="custom_fields",
)
def test_custom_fields_are_for_practices_with_a_server_id(partner: Partner, receiver: Receiver) -> None:
    """The fourth practice has none."""
    found = {body["practice_id"]: "custom_fields" in body for body in bodies(partner, receiver)}
    assert found == {"loc-001": True, "loc-002": True, "loc-004": False}


@rule(
    REMINDER,
    edited("webhooks.reminders:_payload", '"server_id": practice.server_id', '"server_id": practice.id'),
    edited(
        "webhooks.reminders:_payload",
        '"client_id": client["remote_client_id"]}',
        '"client_id": str(client["number"])}',
    ),
    says="custom_fields, composite",
)
def test_the_composite_client_id_ends_with_the_server_id(partner: Partner, receiver: Receiver) -> None:
    servers = {practice.id: practice.server_id for practice in partner.platform.practices}
    for body in bodies(partner, receiver):
        custom = body.get("custom_fields")
        if custom is not None:
            server = servers[body["practice_id"]]
            plain = body["remote_client_id"].removesuffix(f"-{server}")
            assert custom == {"server_id": server, "client_id": f"{plain}-{server}"}


@rule(
    REMINDER,
    edited("webhooks.posting:letter", "if secret is not None:", 'if "Reminders" not in user_agent:'),
    says="signature",
)
def test_it_is_signed(partner: Partner, receiver: Receiver) -> None:
    secret = partner.platform.webhook_secret.encode()
    for got in a_morning(partner, receiver):
        signature = hmac.new(secret, got.raw, hashlib.sha256).hexdigest()
        assert got.headers.get("x-webhook-signature") == signature


@rule(
    REMINDER,
    edited(
        "webhooks.reminders:ReminderWebhooks.triggered",
        "self.deliveries.send(",
        'payload["id"] = "srg_1"; self.deliveries.send(',
    ),
    says="id",
)
def test_each_group_has_its_id(partner: Partner, receiver: Receiver) -> None:
    ids = [body["id"] for body in bodies(partner, receiver)]
    assert len(set(ids)) == len(ids)


@rule(REMINDER, replaced("webhooks.deliveries:WAITS", ()), says="retried")
def test_it_is_sent_again_where_it_was_not_taken(partner: Partner, receiver: Receiver) -> None:
    """How often is not shown."""
    receiver.answers = [500] * 20
    ids = [body["id"] for body in bodies(partner, receiver)]
    assert len(set(ids)) < len(ids)
