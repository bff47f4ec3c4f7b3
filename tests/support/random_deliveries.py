"""Possible contents of webhooks: the ends of outreach, messages, service reminders in one version or more."""

from datetime import datetime, timedelta
from random import Random
from typing import Any

Row = dict[str, Any]

MESSAGES, REMINDERS = 300, 300


def random_deliveries(random: Random, tables: dict[str, list[Row]], received: datetime) -> dict[str, list[Row]]:
    """Return rows of the tables that only webhooks fill, received until `received`."""
    requests = tables["ai_outbound_requests"]
    practices = sorted({row["practice_id"] for row in requests})
    ended = [row for row in requests if row["status"] in {"completed", "failed"} and random.random() < 0.5]
    return {
        "outreach_events": [_event(random, row, received) for row in ended],
        "messages": [_message(random, practices, str(number), received) for number in range(MESSAGES)],
        "service_reminder_events": [_reminder(random, practices, number, received) for number in range(REMINDERS)],
    }


def _kept(random: Random, received: datetime) -> Row:
    loaded = received - timedelta(minutes=random.randrange(9000))
    return {"_loaded_at": loaded, "_deleted_at": received if random.random() < 0.05 else None}


def _event(random: Random, request: Row, received: datetime) -> Row:
    """Return an event that mostly names an appointment, of any practice, if the request booked."""
    booked = request["outcome"] == "booked"
    return {
        "practice_id": request["practice_id"],
        "request_id": request["id"],
        "status": request["status"],
        "outcome": request["outcome"],
        "appointment_id": random.choice([str(random.randrange(1500)), "", None]) if booked else None,
        "completed_at": request["completed_at"],
        "received_at": received,
        **_kept(random, received),
    }


def _message(random: Random, practices: list[str], identity: str, received: datetime) -> Row:
    sent = received - timedelta(seconds=random.randrange(2_000_000))
    return {
        "practice_id": random.choice(practices),
        "id": identity,
        "reference_id": random.choice(["ours-1", "", None]),
        "client_id": random.choice(["7", "", None]),
        "status": random.choice(["sent", "delivered", "read", "failed", "suppressed", "bounced"]),
        "status_reason": random.choice(["opted_out", "spam", "", None]),
        "channel_requested": random.choice(["auto", "fax", "", None]),
        "channel_used": random.choice(["rcs", "sms", "pigeon", None]),
        "error_code": random.choice(["30003", "", None]),
        "sent_at": random.choice([sent, None]),
        "delivered_at": random.choice([sent + timedelta(seconds=7.5), None]),
        "read_at": random.choice([sent + timedelta(hours=7), None]),
        "failed_at": random.choice([sent + timedelta(seconds=9), None]),
        "created_at": random.choice([sent - timedelta(seconds=1), sent, None]),
        **_kept(random, received),
    }


def _reminder(random: Random, practices: list[str], number: int, received: datetime) -> Row:
    """Return a reminder: the first two hundred are groups of their own; the others repeat a group, later."""
    group = number if number < 200 else random.randrange(200)
    return {
        "practice_id": practices[group % len(practices)],
        "id": f"group-{group}",
        "content_hash": f"{number:08}",
        "client_id": random.choice(["7", "", None]),
        "remote_client_id": random.choice(["R7-7", "", None]),
        "patient_id": random.choice([str(random.randrange(900)), "", None]),
        "remote_patient_id": random.choice([f"P{random.randrange(900)}-7", "", None]),
        "notification_rule_name": random.choice(["Due tomorrow", "", None]),
        "group_status": random.choice(["incomplete", "completed", "postponed", "", None]),
        "reminders": random.choice(['[{"id": "1"}]', "[]", None]),
        "due_at": random.choice([received + timedelta(hours=random.randrange(999)), None]),
        "timestamp": random.choice([received - timedelta(days=random.randrange(400)), None]),
        "received_at": received - timedelta(days=30) + timedelta(hours=number),
        **_kept(random, received),
    }
