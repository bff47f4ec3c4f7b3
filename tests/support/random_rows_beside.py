"""Rows beside those of the lists, drawn from a seed: contents of webhooks, acts of vetl, forecasts, headlines."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

Row = dict[str, Any]
Tables = dict[str, list[Row]]
ZONES = {"ny": "America/New_York", "phx": "America/Phoenix", "syd": "Australia/Sydney"}
"""Practices that rows are drawn for."""
MESSAGES, REMINDERS = 300, 300


def random_deliveries(random: Random, tables: Tables, received: datetime) -> Tables:
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
        "remote_patient_id": random.choice([f"P{random.randrange(90)}-7", "", None]),
        "notification_rule_name": random.choice(["Due tomorrow", "", None]),
        "group_status": random.choice(["incomplete", "completed", "postponed", "", None]),
        "reminders": random.choice(['[{"id": "1"}]', "[]", None]),
        "due_at": random.choice([received + timedelta(hours=random.randrange(-400, 300)), None]),
        "timestamp": random.choice([received - timedelta(days=random.randrange(400)), None]),
        "received_at": received - timedelta(days=30) + timedelta(hours=number),
        **_kept(random, received),
    }


STATES = (
    "planned", "holdout", "holdout", "asking", "unknown", "made", "made", "made", "refused", "left", "canceled",
)  # fmt: skip


def random_acts(random: Random, tables: Tables, clock: datetime, count: int = 200) -> Tables:
    """Return the rows of `control.acts`: each contact has at most one act."""
    calls = [(row["practice_id"], f"call:{row['call_key']}") for row in tables["phone_calls"]]
    sessions = [(row["practice_id"], f"online:{row['id']}") for row in tables["booking_sessions"]]
    tasks = [(row["practice_id"], row["id"]) for row in tables["staff_tasks"]]
    contacts = [*random.sample([*calls, *sessions[:100]], count), ("ny", "call:taken-back"), ("ny", None)]
    return {"control.acts": [_act(random, number, of, tasks, clock) for number, of in enumerate(contacts)]}


def _act(
    random: Random,
    number: int,
    contact: tuple[str, str | None],
    tasks: list[tuple[str, str]],
    clock: datetime,
) -> Row:
    practice, episode = contact
    state = random.choice(STATES)
    planned = clock - timedelta(microseconds=random.randrange(17 * 86_400_000_000))
    is_made = state in {"made", "left", "canceled"}
    own = [task for of, task in tasks if of == practice]
    return {
        "practice_id": practice,
        "code": f"CODE{number}",
        "kind": random.choice(["call_back", "call_back", "text"]),
        "episode_id": episode,
        "state": state,
        "planned_at": planned,
        "asked_at": planned + timedelta(seconds=3) if is_made and random.random() < 0.9 else None,
        "approved_by": random.choice(["ann", None]),
        "certified_through": random.choice([planned - timedelta(hours=1), None]),
        "task_id": own[number % len(own)] if is_made else None,
        "found_by": random.choice(["answer", "code", "reference"]) if is_made else None,
    }


MEASURES = ("calls", "bookable_calls", "staff_minutes")


def random_forecasts(random: Random, clock: datetime) -> Tables:
    """Return the rows of `control.forecasts`: three forecasts of three practices, each about five days."""
    made = [(practice, clock - timedelta(days=ago)) for practice in ("ny", "syd", "phx") for ago in (9, 7, 2)]
    return {
        "control.forecasts": [
            _row(random, practice, at, days, hour)
            for practice, at in made
            for days in range(1, 6)
            for hour in random.sample(range(24), 10)
        ]
    }


def _row(random: Random, practice: str, at: datetime, days: int, hour: int) -> Row:
    zone = ZoneInfo(ZONES[practice])
    made_on = at.astimezone(zone).date()
    day = made_on + timedelta(days=days)
    row: Row = {"practice_id": practice, "made_on": made_on, "made_at": at, "weeks": 9, "day": day, "hour": hour}
    row["begins_at"] = datetime(day.year, day.month, day.day, hour, tzinfo=zone).astimezone(UTC)
    for measure in MEASURES:
        expected = random.randrange(500) / 100
        row |= {measure: expected, f"{measure}_low": expected / 2, f"{measure}_high": expected * 2}
        row[f"{measure}_naive"] = float(random.randrange(3))
    return row


def random_headlines(random: Random, clock: datetime) -> Tables:
    """Return the rows of `control.headlines`: two facts of each practice; one of them is over and no news."""
    return {"control.headlines": [_headline(random, of, ago, clock) for of in ZONES for ago in (3, 90)]}


def _headline(random: Random, practice: str, ago: int, clock: datetime) -> Row:
    since = clock.astimezone(ZoneInfo(ZONES[practice])).date() - timedelta(days=ago)
    calls = random.randrange(12, 40)
    lost = calls - random.randrange(4)
    return {
        "practice_id": practice,
        "measure": "answered_hours",
        "since": since,
        "until": since,
        "first_seen": since + timedelta(days=1),
        "direction": "lower",
        "value": 1 - lost / calls,
        "usual": 0.8,
        "people": lost,
        "sureness": 0.999,
        "rank": 1 if ago == 3 else None,
        "made_of": f"{calls - lost} of {calls} calls",
        "words": f"{practice}: on {since} {lost} of {calls} calls were unanswered",
        "shape": "hours",
        "counted": "answered",
        "cases": float(calls - lost),
        "of_cases": float(calls),
        "distance": 6.0,
        "hour": 8,
        "until_hour": 12,
    }
