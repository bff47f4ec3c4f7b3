"""Contract: Service reminder webhook. The notification rules of the sandbox's practices trigger in the morning."""

from support.hook_receiver import Got, Receiver
from support.partner_side import Partner
from support.rows_by_id import ISO

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


def test_reminders_have_their_fields_and_are_signed(partner: Partner, receiver: Receiver) -> None:
    reminders = a_morning(partner, receiver)
    sent = [got.body for got in reminders]
    assert all(got.is_signed_with(partner.platform.webhook_secret) for got in reminders)
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
