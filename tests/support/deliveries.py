"""Webhooks as the platform sends them, written from the contract and not with vetl's own code."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from itertools import count
from typing import Any

_NUMBERS = count(1)
SECRET = "a-secret"

Payload = dict[str, Any]


def body_of(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload).encode()


def signed(body: bytes, secret: str = SECRET) -> dict[str, str]:
    """Return the headers of a delivery (contract: Authentication 7)."""
    made = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"Content-Type": "application/json", "X-Webhook-Signature": made}


def message(identity: str = "m-1", status: str = "delivered", **fields: Any) -> Payload:
    """Return a message status webhook; each call is a delivery of its own, so its `event_id` differs."""
    number = next(_NUMBERS)
    return {
        "id": identity,
        "status": status,
        "event": f"message.{status}",
        "event_id": f"e-{number}",
        **dict.fromkeys(("reference_id", "status_reason", "error_code", "error_message")),
        "channel_requested": "auto",
        "channel_used": None if status == "sent" else "rcs",
        "client_id": "c-1",
        "sent_at": "2026-03-01T10:00:00Z",
        **dict.fromkeys(("delivered_at", "read_at", "failed_at")),
        "created_at": "2026-03-01T10:00:00Z",
        "clinic_id": "loc-001",
        "occurred_at": "2026-03-01T10:00:05Z",
        "timestamp": f"2026-03-01T10:00:{number % 60:02}Z",
        **fields,
    }


def outreach(identity: str = "r-1", **fields: Any) -> Payload:
    """Return an AI outbound outcome webhook of a request that led to a booking."""
    return {
        "event": "ai_outbound.completed",
        "request_id": identity,
        **dict.fromkeys(("partner_request_id", "suppression_reason", "error_message")),
        "clinic_id": "loc-001",
        "channel": "sms",
        "purpose": "scheduling",
        "status": "completed",
        "outcome": "booked",
        "outcome_detail": {"appointment_id": "a-1"},
        "client_id": "c-1",
        "patient_id": "p-1",
        "contacted_at": "2026-03-01T10:00:00Z",
        "completed_at": "2026-03-01T12:00:00Z",
        "timestamp": "2026-03-01T12:00:01Z",
        **fields,
    }


def reminder(identity: str = "g-1", **fields: Any) -> Payload:
    return {
        "practice_id": "loc-001",
        "practice_name": "Harbor Animal Hospital",
        "id": identity,
        "client_id": "c-1",
        "remote_client_id": "17",
        "patient_id": "p-1",
        "remote_patient_id": None,
        "notification_rule_name": "Rabies",
        "due_at": "2026-04-01T00:00:00Z",
        "reminders": [{"id": "s-1", "code": "RAB", "description": "Rabies", "due_at": "2026-04-01T00:00:00Z"}],
        "group_status": "incomplete",
        **fields,
    }
