"""The booking marts, implemented a second time from their definitions: the funnel by day and by stage."""

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

from support.cells import count, hours, median_of, rate
from support.dbt_build import BOOKING_STAGES
from support.expected.booking_requests import requests_by_practice
from support.expected.rows import ATTENDANCE, appointments
from support.mart_inputs import Expected, Known
from support.random_rows import Row
from support.zones import on_the_wall

REFERRAL = ("referral_source", "referral_campaign", "referral_medium", "client_type")


def booking_funnel_daily(source: Known) -> Expected:
    days = source.by_day(source.rows("booking_sessions"), *REFERRAL)
    return {key: funnel(sessions) for key, sessions in days.items()}


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


def appointments_daily(source: Known) -> Expected:
    """Return the results of the appointments that were made on a day, by their origin."""
    days: dict[Any, list[Any]] = defaultdict(list)
    for (practice, _), row in appointments(source).items():
        days[practice, row["day"]].append(row)
    expected: dict[Any, dict[str, Any]] = {}
    for day, made in days.items():
        known_ways = rate(sum(row["booked_via"] is not None for row in made), len(made))
        for way in {row["booked_via"] for row in made}:
            here = [row for row in made if row["booked_via"] == way]
            attended = Counter(row["attendance"] for row in here)
            expected[*day, way] = {
                "appointments": len(here),
                **{name: attended[name] for name in ("kept", "canceled", "no_show", "open")},
                "booked_exactly": sum(row["attribution"] == "exact" for row in here),
                "share_attributable": known_ways,
            }
    return expected


def booking_funnel_stages(source: Known) -> Expected:
    """Return the stages of a practice's days, up to the farthest one reached, and those without a place."""
    order = BOOKING_STAGES
    expected: dict[Any, tuple[Any, ...]] = {}
    for day, sessions in source.by_day(source.rows("booking_sessions")).items():
        at = Counter(row["stage"] or None for row in sessions)
        done = Counter(row["stage"] or None for row in sessions if row["status"] == "completed")
        for stage in at.keys() - set(order):
            expected[*day, stage] = (None, at[stage], None, None, None)
        farthest = max((order.index(stage) for stage in at if stage in order), default=-1)
        for place, stage in enumerate(order[: farthest + 1]):
            later = sum(at[name] for name in order[place + 1 :])
            reached, continued = at[stage] + later, done[stage] + later
            lost = rate(reached - continued, reached)
            expected[*day, stage] = (place + 1, at[stage], reached, continued, lost)
    return expected


THIRTY_DAYS = timedelta(days=30)


def booked_for(source: Known, row: Row) -> str | None:
    known = requests_by_practice(source)[row["practice_id"]]
    return known.person(*known.booked_for(row))


def rebookings_daily(source: Known) -> Expected:
    """Return the next appointments of the people who came on a day."""
    of_person: dict[Any, list[Row]] = defaultdict(list)
    for row in source.rows("appointments"):
        if person := booked_for(source, row):
            of_person[row["practice_id"], person].append(row)
    cells: dict[Any, list[tuple[bool, bool, bool, bool]]] = defaultdict(list)
    for (practice, _), rows in of_person.items():
        for row in rows:
            if row["status"] == "COMPLETED" and row["booking_date"]:
                local = source.local(row, "booking_date")
                cells[practice, local and local.date()].append(next_visit(source, row, rows))
    return {key: rebookings(visits) for key, visits in cells.items()}


def next_visit(source: Known, visit: Row, rows: list[Row]) -> tuple[bool, bool, bool, bool]:
    """Return whether a later one was made before, on the day, within 30 days, and whether these are over."""
    at, as_of = visit["booking_date"], source.as_of(visit["practice_id"])
    later = [row for row in rows if row["booking_date"] and row["booking_date"] > at and row["created_at"]]
    after = [row for row in later if row["created_at"] >= at]
    came = source.local(visit, "booking_date")
    days = [made.date() for row in after if (made := source.local(row, "created_at"))]
    configured = source.zone_of(visit["practice_id"]) is not None
    return (
        any(row["created_at"] < at and row["status"] != "CANCELED" for row in later),
        bool(came and came.date() in days),
        any(row["created_at"] - at <= THIRTY_DAYS for row in after),
        bool(configured and as_of and as_of - at >= THIRTY_DAYS),
    )


def rebookings(visits: list[tuple[bool, bool, bool, bool]]) -> dict[str, Any]:
    return {
        "kept_visits": len(visits),
        "booked_before": sum(before for before, *_ in visits),
        "booked_when_leaving": sum(before or there for before, there, *_ in visits),
        "booked_within_30_days": sum(before or soon for before, _, soon, _ in visits),
        "is_mature": all(over for *_, over in visits),
    }


def new_clients_monthly(source: Known) -> Expected:
    """Return what became of new clients, by the month of their first appointment."""
    people: dict[Any, list[Row]] = defaultdict(list)
    for row in source.rows("appointments"):
        people[row["practice_id"], booked_for(source, row) or f"appointment:{row['id']}"].append(row)
    months: dict[Any, list[Counter[str]]] = defaultdict(list)
    for (practice, _), rows in people.items():
        if any(row.get("client_type") == "new" for row in rows):
            made = min((at for row in rows if (at := source.local(row, "created_at"))), default=None)
            attended = Counter(ATTENDANCE.get(row["status"] or "", "open") for row in rows)
            months[practice, made.date().replace(day=1) if made else None].append(attended)
    return {key: fates(of_month) for key, of_month in months.items()}


def fates(people: list[Counter[str]]) -> dict[str, Any]:
    came = sum(one["kept"] > 0 for one in people)
    stayed_away = [one for one in people if not one["kept"]]
    expected = sum(one["open"] > 0 for one in stayed_away)
    missed = sum(not one["open"] and one["no_show"] > 0 for one in stayed_away)
    return {
        "new_clients": len(people),
        "came": came,
        "came_again": sum(one["kept"] > 1 for one in people),
        "expected": expected,
        "missed": missed,
        "canceled": len(people) - came - expected - missed,
        "came_rate": rate(came, len(people) - expected),
    }


def lead_time(days: int | None) -> str | None:
    """Return the name of the time from the day of booking to the day of the visit."""
    if days is None:
        return None
    names = ((0, "same day"), (7, "within a week"), (30, "within a month"))
    return next((name for most, name in names if days <= most), "later")


def visits_daily(source: Known) -> Expected:
    """Return the results of the appointments for a day, by origin, kind of client and lead time."""
    cells: dict[Any, list[tuple[str, int | None]]] = defaultdict(list)
    for (practice, _), row in appointments(source).items():
        at = row["booking_date_local"]
        days = (at.date() - row["day"]).days if at and row["day"] else None
        key = practice, at and at.date(), row["booked_via"], row["client_type"], lead_time(days)
        cells[key].append((row["attendance"], days))
    return {key: visits(source, key, rows) for key, rows in cells.items()}


def visits(source: Known, key: tuple[Any, ...], rows: list[tuple[str, int | None]]) -> dict[str, Any]:
    practice, day, *_ = key
    counts = Counter(name for name, _ in rows)
    configured = source.zone_of(practice)
    today = on_the_wall(source.as_of(practice), configured) if configured else None
    return {
        "appointments": len(rows),
        **{name: counts[name] for name in ("kept", "canceled", "no_show", "open")},
        "no_show_rate": rate(counts["no_show"], counts["kept"] + counts["no_show"]),
        "cancellation_rate": rate(counts["canceled"], len(rows) - counts["open"]),
        "median_lead_days": median_of(float(days) for _, days in rows if days is not None),
        "is_past": bool(day and today and day < today.date()),
    }
