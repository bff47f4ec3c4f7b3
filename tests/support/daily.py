"""The daily marts' columns beside the grain, computed in plain Python from the rows of one cell."""

from datetime import datetime, timedelta
from typing import Any

from support.cells import count, hours, median_of, rate
from support.demand import wanted_of
from support.random_rows import Row


def funnel(sessions: list[Row]) -> tuple[Any, ...]:
    completed = [row for row in sessions if row["status"] == "completed"]
    minutes = [hours(row["created_at"], row["last_activity_at"] or row["updated_at"]) for row in completed]
    return (
        len(sessions),
        len(completed),
        count(sessions, lambda row: row["status"] == "abandoned"),
        count(sessions, lambda row: row["status"] == "active"),
        count(sessions, lambda row: row["appointment_id"] or row["remote_appointment_id"]),
        rate(len(completed), len(sessions)),
        median_of(None if value is None else value * 60 for value in minutes),
    )


def intent(calls: list[Row]) -> tuple[Any, ...]:
    wanted = [row for row in calls if row["booking_intent"]]
    booked = count(wanted, lambda row: row["booked"])
    return (
        len(calls),
        len(wanted),
        count(calls, lambda row: row["booked"]),
        booked,
        rate(len(wanted), len(calls)),
        rate(booked, len(wanted)),
        len(wanted) - booked,
        *answers(calls),
    )


def answers(calls: list[Row]) -> tuple[Any, ...]:
    """Return the answered calls, and those that wanted a new appointment and got one."""
    new = [row for row in calls if wanted_of(row) == "new_booking"]
    booked = count(new, lambda row: row["booked"])
    return (
        count(calls, lambda row: row["state"] in {"completed", "in_progress"}),
        len(new),
        booked,
        rate(booked, len(new)),
        count(new, lambda row: row["booking_intent"] and not row["booked"]),
    )


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
