"""The booking marts, implemented a second time from design §7: the funnel by day and by stage."""

from collections import Counter, defaultdict
from typing import Any

from support.cells import rate
from support.daily import funnel
from support.expected.rows import appointments
from support.mart_inputs import Expected, Known

REFERRAL = ("referral_source", "referral_campaign", "referral_medium", "client_type")


def booking_funnel_daily(source: Known) -> Expected:
    days = source.by_day(source.rows("booking_sessions"), *REFERRAL)
    return {key: funnel(sessions) for key, sessions in days.items()}


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
    """Return the results of the appointments that were made on a day, by their origin."""
    days: dict[Any, list[Any]] = defaultdict(list)
    for (practice, _), row in appointments(source).items():
        assert isinstance(row, dict)
        days[practice, row["day"]].append(row)
    expected: dict[Any, dict[str, Any]] = {}
    for day, made in days.items():
        known_ways = rate(sum(row["booked_via"] is not None for row in made), len(made))
        for way in {row["booked_via"] for row in made}:
            here = [row for row in made if row["booked_via"] == way]
            courses = Counter(row["course"] for row in here)
            expected[*day, way] = {
                "appointments": len(here),
                **{course: courses[course] for course in ("kept", "canceled", "no_show", "open")},
                "booked_exactly": sum(row["attribution"] == "exact" for row in here),
                "share_attributable": known_ways,
            }
    return expected


def booking_funnel_stages(source: Known) -> Expected:
    """Return the stages of a practice's days, up to the farthest one reached, and those without a place."""
    order = stage_order(source)
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
