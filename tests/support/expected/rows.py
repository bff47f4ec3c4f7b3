"""The marts with one row per thing: an empty text is null, and each time has two forms."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from support.attribution import Attribution
from support.booking_requests import intent_of
from support.cells import hours
from support.expected.tasks import CLOSES, DAYS, OPENS, open_hours, reopened
from support.mart_inputs import Expected, Known, once_for_each
from support.random_rows import Row
from support.zones import on_the_wall

CALL_TEXTS = (
    "remote_client_id", "patient_id", "remote_patient_id", "direction", "state", "caller_type",
    "call_classification", "customer_sentiment", "outcome", "client_name", "patient_name", "phone_number",
    "summary",
)  # fmt: skip

ANSWERED = {"completed", "in_progress"}
ENDINGS = {
    "resolved": (
        "appointment_booked appointment_rescheduled appointment_confirmed appointment_canceled declined"
        " do_not_call resolved"
    ),
    "handed_over": "callback_requested forwarded transferred transfer_completed task_created",
    "lost": (
        "no_answer voicemail quick_abandoned abandoned abandoned_after_transfer dropped transfer_no_human"
        " transfer_caller_abandoned"
    ),
}
"""The project's defaults."""


def with_local_times(source: Known, row: Row, texts: Iterable[str], times: Iterable[str]) -> dict[str, Any]:
    """Return columns unchanged, times also on the practice's wall clock, and the day of `created_at` there."""
    columns = {name: row.get(name) or None for name in texts}
    for name in times:
        columns |= {name: row.get(name), f"{name}_local": source.local(row, name)}
    return {**columns, "day": source.day(row)}


def phone_calls(source: Known) -> Expected:
    """Return phone calls; the source gives the local minute itself, so it does not depend on the settings."""
    people = callers(source)
    return {
        (row["practice_id"], row["call_key"]): {
            **{name: row.get(name) or None for name in CALL_TEXTS},
            "call_id": row["id"],
            **people[row["practice_id"], row["call_key"]],
            "practice_name": row.get("practice") or None,
            **{name: row[name] for name in ("duration_seconds", "booking_intent", "booked")},
            "is_missed_intent": bool(row["booking_intent"]) and not row["booked"],
            "intent": intent_of(row),
            "ending": ending(row),
            "is_open": is_open(row),
            "is_answered": row["state"] in ANSWERED,
            "is_new_booking_intent": (new := intent_of(row) == "new_booking"),
            "is_new_booking": new and bool(row["booked"]),
            "is_missed_new_booking": new and bool(row["booking_intent"]) and not row["booked"],
            "day": row["call_date"],
            **{name: row[name] for name in ("called_at_local", "called_at", "created_at")},
        }
        for row in source.rows("phone_calls")
    }


def ending(row: Row) -> str:
    """Return the listed ending of the outcome, else by whether somebody answered."""
    listed = next((name for name, outcomes in ENDINGS.items() if row["outcome"] in outcomes.split()), None)
    return listed or ("other" if row["state"] in ANSWERED else "lost")


def is_open(row: Row) -> bool:
    """Return whether a call began within the usual opening hours."""
    local = row["called_at_local"]
    return local.isoweekday() <= DAYS and OPENS <= local.hour < CLOSES


@once_for_each
def attributions(source: Known) -> dict[str, Attribution]:
    """Return the origins of bookings of each practice with calls or appointments."""
    names = source.practices_in("phone_calls") | source.practices_in("appointments")
    return {name: Attribution(name, source.tables, source.region_of(name)) for name in names}


@once_for_each
def callers(source: Known) -> dict[tuple[str, str], dict[str, str | None]]:
    """Return each call's client, and the caller's key: that of the caller's first call."""
    found: dict[tuple[str, str], dict[str, str | None]] = {}
    for practice, known in attributions(source).items():
        people = {call["call_key"]: known.caller(call) for call in known.calls}
        calls = sorted(known.calls, key=lambda call: (call["called_at_local"], call["call_key"]))
        first: dict[str | None, str] = {}
        for call in calls:
            first.setdefault(known.person(*people[call["call_key"]]), call["call_key"])
        for key, caller in people.items():
            person = known.person(*caller)
            found[practice, key] = {"client_id": caller[0], "caller_key": first[person] if person else None}
    return found


def booking_sessions(source: Known) -> Expected:
    texts = ("appointment_id", "remote_appointment_id", "status", "stage", "client_type")
    referral = ("referral_source", "referral_campaign", "referral_medium")
    expected: dict[Any, dict[str, Any]] = {}
    for row in source.rows("booking_sessions"):
        done = hours(row["created_at"], row["last_activity_at"] or row["updated_at"])
        expected[row["practice_id"], row["id"]] = {
            **with_local_times(source, row, (*texts, *referral), ("created_at", "updated_at", "last_activity_at")),
            "minutes_to_complete": done * 60 if done is not None and row["status"] == "completed" else None,
            "has_appointment": bool(row["appointment_id"] or row["remote_appointment_id"]),
        }
    return expected


NEVER = datetime.max.replace(tzinfo=UTC)

ATTENDANCE = {"COMPLETED": "kept", "CANCELED": "canceled", "NO_SHOW": "no_show"}
"""The result of an appointment, by its status; with any other status it is open."""


@once_for_each
def appointments(source: Known) -> dict[Any, dict[str, Any]]:
    texts = (
        "remote_client_id", "remote_patient_id", "status", "client_type", "client_first_name",
        "client_last_name", "client_email", "client_phone", "patient_name", "referral_source",
        "referral_campaign", "referral_medium",
    )  # fmt: skip
    by_practice = attributions(source)
    first: dict[Any, str] = {}
    for row in sorted(source.rows("appointments"), key=lambda row: (row["created_at"] or NEVER, row["id"])):
        first.setdefault(person_of(by_practice, row), row["id"])
    expected: dict[Any, dict[str, Any]] = {}
    for row in source.rows("appointments"):
        here, person = by_practice[row["practice_id"]], person_of(by_practice, row)
        booking = here.bookings[row["id"]]
        evidence = {booking.via: booking.evidence_id} if booking else {}
        expected[row["practice_id"], row["id"]] = {
            **with_local_times(source, row, texts, ("created_at", "updated_at", "booking_date", "end_date")),
            "remote_appointment_id": row["remote_id"] or None,
            "client_id": here.by_remote_id.get(row["remote_client_id"] or ""),
            "patient_id": here.by_remote_patient.get(row.get("remote_patient_id") or ""),
            "person_key": first[person] if person[1] else None,
            "session_id": evidence.get("online"),
            "call_key": evidence.get("call"),
            "request_id": evidence.get("outreach"),
            "booked_via": booking and booking.via,
            "attribution": booking and booking.attribution,
            "attendance": ATTENDANCE.get(row["status"] or "", "open"),
            "is_kept": {"open": None, "kept": True}.get(ATTENDANCE.get(row["status"] or "", "open"), False),
        }
    return expected


def person_of(by_practice: dict[str, Attribution], row: Row) -> tuple[str, str | None]:
    """Return the practice of an appointment, and its client or number."""
    here = by_practice[row["practice_id"]]
    return row["practice_id"], here.person(*here.booked_for(row))


def outreach_requests(source: Known) -> Expected:
    texts = (
        "partner_request_id", "client_id", "patient_id", "channel", "purpose", "status", "outcome",
        "suppression_reason", "error_message", "contact_number", "context",
    )  # fmt: skip
    return {
        (row["practice_id"], row["id"]): {
            **with_local_times(source, row, texts, ("created_at", "contacted_at", "completed_at")),
            "hours_to_contact": hours(row["created_at"], row["contacted_at"]),
            "hours_to_outcome": hours(row["created_at"], row["completed_at"]) if row["outcome"] else None,
            "is_contacted": row["contacted_at"] is not None,
            "is_open": row["status"] in {"received", "queued", "in_progress"},
            "is_failed_undispatched": row["status"] == "failed" and row["outcome"] != "undeliverable",
            "is_mature": (hours(row["created_at"], source.now) or 0) >= 96,
        }
        for row in source.rows("ai_outbound_requests")
    }


def staff_tasks(source: Known) -> Expected:
    texts = ("client_id", "patient_id", "task_type", "status", "title", "description")
    times = ("created_at", "updated_at", "finalized_at", "reference_time_at")
    again, calls = reopened(source), calls_before(source)
    no_call = {"call_key": None, "hours_after_call": None}
    return {
        (row["practice_id"], row["id"]): {
            **calls.get((row["practice_id"], row["id"]), no_call),
            "is_reopened": (row["practice_id"], row["id"]) in again,
            **with_local_times(source, row, (*texts, "override_completion_action_text"), times),
            "cancellation_allowed": row["cancellation_allowed"],
            "hours_to_finalize": hours(row["created_at"], row["finalized_at"]),
            "hours_pending": hours(row["created_at"], source.now) if row["status"] == "pending" else None,
            "open_hours_to_finalize": open_hours(
                source.local(row, "created_at"), source.local(row, "finalized_at")
            ),
        }
        for row in source.rows("staff_tasks")
    }


def calls_before(source: Known) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the last inbound call of the client within the day before each task that has one."""
    calls: dict[Any, list[Row]] = defaultdict(list)
    people = callers(source)
    for row in source.rows("phone_calls"):
        client = people[row["practice_id"], row["call_key"]]["client_id"]
        if client and row["direction"] == "inbound" and row["called_at"]:
            calls[row["practice_id"], client].append(row)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for task in source.rows("staff_tasks"):
        made = task["created_at"]
        before = calls[task["practice_id"], task["client_id"]] if made else []
        near = [call for call in before if timedelta() <= made - call["called_at"] <= timedelta(days=1)]
        if near:
            last = min(near, key=lambda call: (made - call["called_at"], call["call_key"]))
            after = hours(last["called_at"], made)
            found[task["practice_id"], task["id"]] = {"call_key": last["call_key"], "hours_after_call": after}
    return found


def clients(source: Known) -> Expected:
    visits: dict[Any, list[Row]] = defaultdict(list)
    for row in source.rows("appointments"):
        client, _ = attributions(source)[row["practice_id"]].booked_for(row)
        visits[row["practice_id"], client].append(row)
    return {
        (row["practice_id"], row["id"]): {
            "remote_client_id": row["remote_id"] or None,
            **{name: row.get(name) or None for name in ("name", "email", "phone")},
            "patient_count": how_many(row["patients"]),
            **visits_of(source, row["practice_id"], visits[row["practice_id"], row["id"]]),
        }
        for row in source.rows("clients")
    }


def visits_of(source: Known, practice: str, rows: list[Row]) -> dict[str, Any]:
    """Return the kept visits of a client, the next one, and whether the client has lapsed."""
    as_of = source.as_of(practice)
    at: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        at[ATTENDANCE.get(row["status"] or "", "open")].append(row)
    kept = sorted(local.date() for row in at["kept"] if (local := source.local(row, "booking_date")))
    clock = as_of or source.now
    ahead = [row for row in at["open"] if row["booking_date"] and clock and row["booking_date"] > clock]
    following = min((local.date() for row in ahead if (local := source.local(row, "booking_date"))), default=None)
    today = on_the_wall(as_of, source.zone_of(practice))
    is_old = bool(kept and today and (today.date() - kept[-1]).days > 365)
    return {
        "first_visit_on": kept[0] if kept else None,
        "last_visit_on": kept[-1] if kept else None,
        "next_visit_on": following,
        "kept_visits": len(at["kept"]),
        "is_lapsed": is_old and following is None,
    }


def patients(source: Known) -> Expected:
    texts = ("client_id", "name", "species", "breed")
    return {
        (row["practice_id"], row["id"]): {name: row.get(name) or None for name in texts}
        for row in source.rows("patients")
    }


FUNNEL = {
    "sent": {"sent", "delivered", "read", "failed"},
    "delivered": {"delivered", "read"},
    "read": {"read"},
    "failed": {"failed"},
}
"""The statuses of a message that has reached at least this state."""


def messages(source: Known) -> Expected:
    texts = ("reference_id", "client_id", "status", "status_reason", "channel_requested", "channel_used")
    minutes = {"minutes_to_deliver": "delivered_at", "minutes_to_read": "read_at"}
    expected: dict[Any, dict[str, Any]] = {}
    for row in source.rows("messages"):
        taken = {name: hours(row["sent_at"], row[column]) for name, column in minutes.items()}
        times = ("created_at", "sent_at", "delivered_at", "read_at", "failed_at")
        expected[row["practice_id"], row["id"]] = {
            **with_local_times(source, row, (*texts, "error_code", "error_message"), times),
            **{name: None if value is None else value * 60 for name, value in taken.items()},
            **{f"is_{step}": row["status"] in reached for step, reached in FUNNEL.items()},
        }
    return expected


def service_reminders(source: Known) -> dict[Any, dict[str, Any]]:
    """Return of each group the latest content, the number of contents, and the patient's next appointment."""
    texts = ("client_id", "remote_client_id", "patient_id", "remote_patient_id")
    versions = Counter((row["practice_id"], row["id"]) for row in source.rows("service_reminder_events"))
    first: dict[Any, Any] = {}
    sent: dict[Any, Any] = {}
    for row in source.rows("service_reminder_events"):
        key = (row["practice_id"], row["id"])
        first[key] = min(row["received_at"], first.get(key, row["received_at"]))
        at = row.get("timestamp") or row["received_at"]
        sent[key] = min(at, sent.get(key, at))
    booked = appointments(source)
    expected: dict[Any, dict[str, Any]] = {}
    for row in latest_reminders(source):
        key, received = (row["practice_id"], row["id"]), source.local(row, "received_at")
        expected[key] = {
            **with_local_times(source, row, texts, ("due_at", "received_at")),
            "notification_rule": row["notification_rule_name"] or None,
            "status": row["group_status"] or None,
            "reminder_count": how_many(row["reminders"]),
            "versions": versions[key],
            "first_received_at": first[key],
            "first_told_at": sent[key],
            **next_appointment(booked, row, sent[key]),
            "day": received.date() if received else None,
        }
    return expected


def next_appointment(booked: Any, reminder: Row, since: Any) -> dict[str, Any]:
    """Return the first appointment of the reminder's patient that was made from that time on."""
    ids = ("patient_id", "remote_patient_id")
    later = [
        (row["created_at"], identity)
        for (practice, identity), row in booked.items()
        if practice == reminder["practice_id"]
        and any(reminder.get(name) and reminder[name] == row[name] for name in ids)
        and row["created_at"]
        and row["created_at"] >= since
    ]
    made, identity = min(later, default=(None, None))
    return {
        "appointment_id": identity,
        "is_followed": identity is not None,
        "hours_to_appointment": hours(since, made),
    }


def latest_reminders(source: Known) -> list[Row]:
    """Return the latest content of each group."""
    ordered = sorted(source.rows("service_reminder_events"), key=lambda row: row["received_at"])
    return list({(row["practice_id"], row["id"]): row for row in ordered}.values())


def how_many(items: str | list[Any] | None) -> int | None:
    """Return the length of a list, as it is or as JSON."""
    return None if items is None else len(json.loads(items) if isinstance(items, str) else items)
