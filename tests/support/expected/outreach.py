"""The marts of outreach, implemented a second time from their definitions: the ends of requests, suppressions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from support.cells import count, hours, median_of, rate
from support.expected.rows import appointments, service_reminders
from support.mart_inputs import Expected, Known
from support.random_rows import Row

THIRTY_DAYS = timedelta(days=30)


def outreach_outcomes_daily(source: Known) -> Expected:
    days = source.by_day(source.rows("ai_outbound_requests"), "purpose", "channel")
    return {key: outreach(requests, source.now) for key, requests in days.items()}


def outreach(requests: list[Row], now: datetime) -> tuple[Any, ...]:
    contacted = [row for row in requests if row["contacted_at"]]
    booked = count(requests, lambda row: row["outcome"] == "booked")
    ended = [row for row in requests if row["outcome"]]
    return (
        len(requests),
        len(contacted),
        booked,
        count(requests, lambda row: row["outcome"] == "opted_out"),
        count(requests, lambda row: row["outcome"] == "no_response"),
        count(requests, lambda row: row["outcome"] == "undeliverable"),
        count(requests, lambda row: row["status"] == "suppressed"),
        count(requests, lambda row: row["status"] == "failed" and row["outcome"] != "undeliverable"),
        count(requests, lambda row: row["status"] in {"received", "queued", "in_progress"}),
        rate(booked, len(contacted)),
        median_of(hours(row["created_at"], row["contacted_at"]) for row in contacted),
        median_of(hours(row["created_at"], row["completed_at"]) for row in ended),
        all(row["created_at"] and now - row["created_at"] >= timedelta(hours=96) for row in requests),
    )


def outreach_suppressions_daily(source: Known) -> Expected:
    stopped = [row for row in source.rows("ai_outbound_requests") if row["status"] == "suppressed"]
    days = source.by_day(stopped, "purpose", "suppression_reason")
    return {key: (len(requests),) for key, requests in days.items()}


def recalls(source: Known) -> dict[Any, dict[str, Any]]:
    """Return what was booked around the due date of each reminder."""
    by_patient: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for (practice, _), visit in appointments(source).items():
        for name in ("patient_id", "remote_patient_id"):
            if visit[name]:
                by_patient[practice, name, visit[name]].append(visit)
    expected: dict[Any, dict[str, Any]] = {}
    for (practice, group), row in service_reminders(source).items():
        visits = [
            visit
            for name in ("patient_id", "remote_patient_id")
            if row[name]
            for visit in by_patient[practice, name, row[name]]
        ]
        expected[practice, group] = recall(source, practice, row, visits)
    return expected


def recall(source: Known, practice: str, row: Mapping[str, Any], visits: Iterable[Any]) -> dict[str, Any]:
    due, now = row["due_at"], source.as_of(practice) if source.zone_of(practice) else None
    made = [visit["created_at"] - due for visit in visits if due and visit["created_at"]]
    ahead = [
        visit["booking_date"]
        for visit in visits
        if visit["attendance"] == "open" and visit["booking_date"] and now and visit["booking_date"] > now
    ]
    before = any(-THIRTY_DAYS <= wait < timedelta() for wait in made)
    after = any(timedelta() <= wait <= THIRTY_DAYS for wait in made)
    states = {
        row["status"]: row["status"] in {"completed", "deleted"},
        "visit ahead": bool(ahead),
        "booked": before or after,
        "overdue": bool(due and now and due <= now),
        "due": True,
    }
    columns = ("client_id", "patient_id", "notification_rule", "status", "due_at")
    return {
        **{name: row[name] for name in columns},
        "day": row["due_at_local"] and row["due_at_local"].date(),
        "is_booked_before": before,
        "is_booked_after": after,
        "next_visit_at": min(ahead, default=None),
        "state": next(state for state, holds in states.items() if holds),
    }


def recalls_daily(source: Known) -> Expected:
    days: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for (practice, _), row in recalls(source).items():
        days[practice, row["day"]].append(row)
    expected: dict[Any, dict[str, Any]] = {}
    for key, rows in days.items():
        before = sum(row["is_booked_before"] for row in rows)
        after = sum(row["is_booked_after"] and not row["is_booked_before"] for row in rows)
        expected[key] = {
            "reminders": len(rows),
            "booked_before": before,
            "booked_after": after,
            "overdue": sum(row["state"] == "overdue" for row in rows),
            "booked_rate": rate(before + after, len(rows)),
        }
    return expected
