"""The three webhooks (contract: Events): their payloads, and the answers that a receiver must give."""

from typing import Any, Final

from vetl_sandbox.messages.message import STATUSES
from vetl_sandbox.openapi.shapes import INSTANT, TEXT, Schema, array, choice, nullable, record, ref
from vetl_sandbox.outreach import FINAL
from vetl_sandbox.webhooks import message_status, outcomes, reminders
from vetl_sandbox.webhooks.deliveries import WAITS
from vetl_sandbox.world import vocabulary as v

_REPEATED: Final = (
    f"The receiver has 10 seconds; any 2xx acknowledges. Up to {len(WAITS) + 1} attempts, with waits of "
    f"{' then '.join(f'{wait} s' for wait in WAITS)}."
)


def event_schemas(message: Schema, request: Schema) -> dict[str, Schema]:
    """Return the payloads."""
    envelope = {
        "event": choice([f"message.{status}" for status in STATUSES]),
        "event_id": TEXT | {"description": "Of this delivery: de-duplicate on it"},
        "clinic_id": TEXT | {"description": "The practice"},
        "occurred_at": INSTANT,
        "timestamp": INSTANT | {"description": "When it was sent"},
    }
    return {
        "MessageEvent": record(message["properties"] | envelope),
        "AiOutboundEvent": _outcome(request["properties"]),
        "ServiceReminderEvent": _reminder(),
    }


def webhooks() -> dict[str, Any]:
    """Return the webhooks of the description."""
    return {
        "messageStatus": _webhook(
            "MessageEvent",
            message_status.USER_AGENT,
            "To a message's callback_url on each status change. Each status once, in order; the latest alone "
            f"if they change faster. {_REPEATED} Then the next change sends the latest.",
        ),
        "aiOutboundOutcome": _webhook(
            "AiOutboundEvent",
            outcomes.USER_AGENT,
            f"To a request's callback_url, once, at its end. {_REPEATED} An hourly job re-sends what was queued "
            "and never delivered: de-duplicate on request_id.",
        ),
        "serviceReminder": _webhook(
            "ServiceReminderEvent",
            reminders.USER_AGENT,
            f"To the partner's endpoint when a notification rule triggers. {_REPEATED}",
        ),
    }


def _webhook(schema: str, agent: str, says: str) -> dict[str, Any]:
    signature = "Lowercase hex HMAC-SHA256 of the raw body, if the practice has a secret"
    return {
        "post": {
            "operationId": schema,
            "summary": f"{schema.removesuffix('Event')} webhook",
            "description": says,
            "security": [],
            "parameters": [
                {"name": "User-Agent", "in": "header", "required": True, "schema": {"const": agent}},
                {"name": "X-Webhook-Signature", "in": "header", "schema": TEXT, "description": signature},
            ],
            "requestBody": {"required": True, "content": {"application/json": {"schema": ref(schema)}}},
            "responses": {"2XX": {"description": "Taken"}},
        }
    }


def _outcome(request: dict[str, Schema]) -> Schema:
    same = ("partner_request_id", "channel", "purpose", "outcome", "suppression_reason", "error_message")
    detail = record({"appointment_id": TEXT})
    return record(
        {
            "event": choice([f"ai_outbound.{status}" for status in FINAL]),
            "request_id": TEXT,
            "clinic_id": TEXT | {"description": "The X-Client-Id"},
            **{name: request[name] for name in same},
            "status": choice(FINAL),
            "outcome_detail": nullable(detail) | {"description": "On booked"},
            "client_id": request["client_id"],
            "patient_id": request["patient_id"],
            "contacted_at": request["contacted_at"],
            "completed_at": INSTANT,
            "timestamp": INSTANT,
        }
    )


def _reminder() -> Schema:
    item = record({"id": TEXT, "code": TEXT, "description": TEXT, "due_at": INSTANT})
    payload = record(
        {
            **dict.fromkeys(("practice_id", "practice_name", "id", "client_id", "remote_client_id"), TEXT),
            "patient_id": TEXT,
            "remote_patient_id": nullable(TEXT),
            "notification_rule_name": TEXT,
            "due_at": INSTANT,
            "reminders": array(item, least=1),
            "group_status": choice(v.REMINDER_STATUSES.values),
            "timestamp": INSTANT,
        }
    )
    custom = record({"server_id": TEXT, "client_id": TEXT}) | {"description": "Practices with a server id"}
    payload["properties"]["custom_fields"] = custom
    return payload
