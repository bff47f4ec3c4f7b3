"""The booking marts, read from design §7 once more: the funnel by day and by stage."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from support.cells import rate
from support.daily import funnel
from support.known import Expected, Known
from support.random_rows import Row

REFERRAL = ("referral_source", "referral_campaign", "referral_medium", "client_type")


def booking_funnel_daily(known: Known) -> Expected:
    found = known.by_day(known.rows("booking_sessions"), *REFERRAL)
    return {key: funnel(sessions) for key, sessions in found.items()}


def stage_order(known: Known) -> list[str]:
    """The stages in order, or nothing where any two are in doubt."""
    before: Counter[tuple[str, str]] = Counter()
    stages = set[str]()
    for versions in known.versions("booking_sessions").values():
        staged = [row["stage"] for row in versions if row["stage"]]
        stages.update(staged)
        before.update((a, b) for i, a in enumerate(staged) for b in staged[i + 1 :] if a != b)
    comes = {(a, b) for (a, b), times in before.items() if times > before[b, a]}
    for middle in stages:
        comes |= {(a, b) for a in stages for b in stages if {(a, middle), (middle, b)} <= comes}
    if any(((a, b) in comes) == ((b, a) in comes) for a in stages for b in stages if a != b):
        return []
    return sorted(stages, key=lambda stage: sum(later == stage for _, later in comes))


def booking_funnel_stages(known: Known) -> Expected:
    return stages(known, known.by_day(known.rows("booking_sessions")))


def stages(known: Known, by_day: Mapping[Any, list[Row]]) -> Expected:
    """The stages of a practice's or a group's days, up to the farthest that anybody came to."""
    order = stage_order(known)
    expected: dict[Any, tuple[Any, ...]] = {}
    for day, sessions in by_day.items():
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
