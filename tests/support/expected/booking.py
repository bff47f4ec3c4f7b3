"""The booking marts, implemented a second time from design §7: the funnel by day and by stage."""

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

from support.expected.demand import demands
from support.expected.rows import appointments
from support.mart_inputs import Expected, Known
from support.random_rows import Row
from support.zones import on_the_wall

REFERRAL = ("referral_source", "referral_campaign", "referral_medium", "client_type")


def booking_funnel_daily(source: Known) -> Expected:
    return {key: {} for key in source.by_day(source.rows("booking_sessions"), *REFERRAL)}


def stage_order(source: Known) -> list[str]:
    """Return the stages in order, without those set aside; of two doubtful stages the rarer one is set aside."""
    before: Counter[tuple[str, str]] = Counter()
    seen: Counter[str] = Counter()
    for versions in source.versions("booking_sessions").values():
        staged = [row["stage"] for row in versions if row["stage"]]
        seen.update(staged)
        before.update((a, b) for i, a in enumerate(staged) for b in staged[i + 1 :] if a != b)
    direct = {(a, b) for (a, b), times in before.items() if times > before[b, a]}
    ways = set(direct)
    for middle in seen:
        ways |= {(a, b) for a in seen for b in seen if {(a, middle), (middle, b)} <= ways}
    comes = {
        (a, b) for a, b in ways if (a, b) in direct or ((b, a) not in direct and a != b and (b, a) not in ways)
    }
    doubted = [{a, b} for a in seen for b in seen if a != b and (a, b) not in comes and (b, a) not in comes]
    aside = {max(pair, key=lambda stage: (-seen[stage], stage)) for pair in doubted}
    placed = seen.keys() - aside
    places = {stage: sum((other, stage) in comes for other in placed) for stage in placed}
    if len(placed) < 2 or len(set(places.values())) < len(placed):
        return []
    return sorted(placed, key=lambda stage: places[stage])


def appointments_daily(source: Known) -> Expected:
    """Return the days on which appointments were made, by their origin."""
    made = ((practice, dict(row)) for (practice, _), row in appointments(source).items())
    return {(practice, row["day"], row["booked_via"]): {} for practice, row in made}


def booking_funnel_stages(source: Known) -> Expected:
    """Return the stages of a practice's days, up to the farthest one reached, and those without a place."""
    order = stage_order(source)
    expected: dict[Any, dict[str, Any]] = {}
    for day, sessions in source.by_day(source.rows("booking_sessions")).items():
        seen = {row["stage"] or None for row in sessions}
        farthest = max((order.index(stage) for stage in seen if stage in order), default=-1)
        places = dict.fromkeys(seen - set(order)) | {
            stage: at for at, stage in enumerate(order[: farthest + 1], 1)
        }
        expected |= {(*day, stage): {"position": place} for stage, place in places.items()}
    return expected


THIRTY_DAYS = timedelta(days=30)


def booked_for(source: Known, row: Row) -> str | None:
    """Return the client or number that an appointment is for."""
    demand = demands(source)[row["practice_id"]]
    return demand.person(*demand.booked_for(row))


def rebookings_daily(source: Known) -> Expected:
    """Return the days on which known people came, and whether 30 days have passed since all of their visits."""
    expected: dict[Any, dict[str, bool]] = {}
    for row in source.rows("appointments"):
        practice, at = row["practice_id"], row["booking_date"]
        if row["status"] == "COMPLETED" and at and booked_for(source, row):
            as_of, local = source.as_of(practice), source.local(row, "booking_date")
            is_over = bool(source.zone_of(practice) and as_of and as_of - at >= THIRTY_DAYS)
            day = expected.setdefault((practice, local and local.date()), {"is_mature": True})
            day["is_mature"] &= is_over
    return expected


def new_clients_monthly(source: Known) -> Expected:
    """Return the months of the first appointments of new clients."""
    people: dict[Any, list[Row]] = defaultdict(list)
    for row in source.rows("appointments"):
        people[row["practice_id"], booked_for(source, row) or f"appointment:{row['id']}"].append(row)
    months: dict[Any, dict[str, Any]] = {}
    for (practice, _), rows in people.items():
        if any(row.get("client_type") == "new" for row in rows):
            made = min((at for row in rows if (at := source.local(row, "created_at"))), default=None)
            months[practice, made.date().replace(day=1) if made else None] = {}
    return months


def lead_time(days: int | None) -> str | None:
    """Return the name of the time from the day of booking to the day of the visit."""
    if days is None:
        return None
    names = ((0, "same day"), (7, "within a week"), (30, "within a month"))
    return next((name for most, name in names if days <= most), "later")


def visits_daily(source: Known) -> Expected:
    """Return the days of visits by origin, kind of client and lead time, and whether they are past."""
    expected: dict[Any, dict[str, bool]] = {}
    for (practice, _), found in appointments(source).items():
        row, configured = dict(found), source.zone_of(practice)
        day = row["booking_date_local"] and row["booking_date_local"].date()
        days = (day - row["day"]).days if day and row["day"] else None
        today = on_the_wall(source.as_of(practice), configured) if configured else None
        key = practice, day, row["booked_via"], row["client_type"], lead_time(days)
        expected[key] = {"is_past": bool(day and today and day < today.date())}
    return expected
