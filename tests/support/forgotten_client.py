"""Jane, a client to forget, in every place where a platform names a client, and Max, who mentions her."""

import json
from datetime import datetime
from typing import Any

from support.warehouse_with_rows import Filled, call_line, call_record
from vetl.core.pages import Changes
from vetl.endpoints import MESSAGE_EVENTS, SERVICE_REMINDER_EVENTS
from vetl.partner.webhooks import Channel, parse_delivery, row
from vetl.store import forgotten
from vetl.store.deliveries import Intake, take_in
from vetl.store.person import look_up

NAME, PHONE, MAIL = "Jané Dœ-Smith", "+12125550199", "jane.doe@example.com"
ID, REMOTE = "7f3c2a10-jane", "remote-4471"
VALUES = (NAME, PHONE, MAIL, ID, REMOTE)
TOLD = (*VALUES, json.dumps(NAME)[1:-1], PHONE.removeprefix("+1"))
"""Her values in the form in which they occur in a file."""

_CLIENT: dict[str, Any] = {"id": ID, "name": NAME, "email": MAIL, "phone": PHONE}
_WHO: dict[str, Any] = {"client_id": ID, "remote_client_id": REMOTE, "client_name": NAME}


def send_everything(filled: Filled) -> Changes:
    """Send everything of the platform, again if it was sent before; return the changes."""
    changes = filled.replace_days(
        call_line(client_name=NAME, phone_number=PHONE, summary=f"{NAME} wants to come"),
        call_line("2025-05-01 11:00", client_name="Max Ray", summary=f"knows {NAME} ({PHONE})"),
        call_line("2025-05-01 12:00", client_name="", phone_number=PHONE),
        call_line("2025-05-01 13:00", client_name=NAME, phone_number="", summary="her knee"),
    )
    changes += filled.attach(
        call_record("call-1", **_WHO, phone_number=PHONE, summary=f"{NAME} wants to come"),
        call_record("call-2", "2025-05-01T17:00:10Z", **_WHO, phone_number="", summary="her knee"),
    )
    changes += filled.merge(
        "clients", {**_CLIENT, "patients": [{"id": "pet-1", "name": "Rex"}]}, {"id": "max-id", "name": "Max"}
    )
    changes += filled.merge("patients", {"id": "pet-1", "name": "Rex of Jane", "client_id": ID})
    changes += filled.merge(
        "staff_tasks",
        {"id": "t1", "title": f"call {NAME}", "description": "knee", "client_id": ID, "odd": MAIL},
        {
            "id": "t2",
            "title": f"ask max-id about {NAME}, {MAIL}",
            "client_id": "max-id",
            "task_type": "Dœ-Smith, Jané",
        },
        {"id": "t3", "created_at": "nonsense", "title": NAME, "client_id": ID},
    )
    changes += filled.merge(
        "appointments",
        {"id": "a1", "remote_client_id": REMOTE, "client_phone": "(212) 555-0199", "client_email": MAIL.upper()},
        {"id": "a2", "remote_client_id": "remote-max", "referral_campaign": NAME.replace(" ", "_")},
    )
    changes += filled.merge(
        "ai_outbound",
        {"id": "r1", "client_id": ID, "contact_number": PHONE, "context": "knee", "status": "queued"},
    )
    message = {"id": "m1", "status": "sent", "client_id": ID, "text": f"Dear {NAME}"}
    changes += _receive(filled, Channel.MESSAGES, MESSAGE_EVENTS, message)
    reminder = {"id": "g1", "client_id": ID, "reminders": [{"name": "shot"}], "custom_fields": {"who": NAME}}
    return changes + _receive(filled, Channel.SERVICE_REMINDERS, SERVICE_REMINDER_EVENTS, reminder)


def _receive(filled: Filled, channel: Channel, endpoint: Any, payload: dict[str, Any]) -> Changes:
    received_at = datetime.fromisoformat("2025-06-01T00:00:00Z")
    rows = [row(parse_delivery(channel, json.dumps(payload).encode()), received_at)]
    return take_in(filled.warehouse, "run", [Intake(filled.practice.id, endpoint, rows, received_at)])


def forget(filled: Filled) -> str:
    """Forget her; return her pseudonym."""
    return forgotten.forget(filled.warehouse, look_up(filled.warehouse, filled.practice.id, ID)).pseudonym
