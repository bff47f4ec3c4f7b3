"""The marts of acting: what vetl did about a booking request, and what came of it."""

from typing import Any

from support.cells import groups, rate
from support.expected.booking_requests import TWO_WEEKS, episodes
from support.expected.overview import bookings
from support.mart_inputs import Expected, Known
from support.random_rows import Row
from support.zones import on_the_wall


def acts(source: Known) -> Expected:
    booked = bookings(source)
    people = {
        (practice, f"{contact.channel}:{contact.id}"): one.person
        for practice, one in episodes(source)
        for contact in one.contacts
    }
    tasks = {(row["practice_id"], row["id"]): row for row in source.rows("staff_tasks")}
    expected: dict[Any, dict[str, Any]] = {}
    for row in source.tables.get("control.acts", ()):
        practice, planned = row["practice_id"], row["planned_at"]
        if not row["episode_id"]:
            continue
        person = people.get((practice, row["episode_id"]))
        later = [at for at in booked[practice].get(person or "", ()) if at >= planned]
        local = on_the_wall(planned, source.zone_of(practice))
        task = tasks.get((practice, row["task_id"]), {})
        expected[practice, row["episode_id"], row["kind"]] = {
            **{name: row[name] for name in ("planned_at", "approved_by", "certified_through", "state")},
            **{name: row[name] for name in ("task_id", "found_by")},
            "holdout": row["state"] == "holdout",
            "day": local.date() if local else None,
            "sent_at": row["asked_at"],
            "task_status": task.get("status") or None,
            "task_finalized_at": task.get("finalized_at"),
            "booked_at": min(later, default=None),
            "booked_within_14_days": any(at <= planned + TWO_WEEKS for at in later),
            "is_mature": source.now - planned > TWO_WEEKS,
        }
    return expected


def acts_daily(source: Known) -> Expected:
    rows = [
        {"practice_id": key[0], "kind": key[2], "_deleted_at": None, **dict(row)}
        for key, row in acts(source).items()
    ]
    days: dict[Any, list[Row]] = groups(rows, lambda row: row["day"], "kind")
    return {key: _compared(of_day) for key, of_day in days.items()}


def _compared(rows: list[Row]) -> dict[str, Any]:
    acted, left = ([row for row in rows if row["holdout"] is is_held] for is_held in (False, True))
    booked, left_booked = (sum(row["booked_within_14_days"] for row in some) for some in (acted, left))
    return {
        "acts": len(acted),
        "acts_booked": booked,
        "acts_booked_rate": rate(booked, len(acted)),
        "held_out": len(left),
        "held_out_booked": left_booked,
        "held_out_booked_rate": rate(left_booked, len(left)),
        "is_mature": all(row["is_mature"] for row in rows),
    }
