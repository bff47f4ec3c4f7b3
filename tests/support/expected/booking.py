"""The booking marts, read from design §7 once more: the funnel by day and by stage."""

from collections import Counter
from typing import Any

from support.cells import rate
from support.daily import funnel
from support.known import Expected, Known


def booking_funnel_daily(known: Known) -> Expected:
    referral = ("referral_source", "referral_campaign", "referral_medium", "client_type")
    found = known.by_day(known.rows("booking_sessions"), *referral)
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
    order = stage_order(known)
    expected: dict[Any, tuple[Any, ...]] = {}
    for (practice, day), sessions in known.by_day(known.rows("booking_sessions")).items():
        at = Counter(row["stage"] or None for row in sessions)
        done = Counter(row["stage"] or None for row in sessions if row["status"] == "completed")
        for stage in at.keys() - set(order):
            expected[practice, day, stage] = (None, at[stage], None, None, None)
        farthest = max((order.index(stage) for stage in at if stage in order), default=-1)
        for place, stage in enumerate(order[: farthest + 1]):
            later = sum(at[name] for name in order[place + 1 :])
            reached, continued = at[stage] + later, done[stage] + later
            lost = rate(reached - continued, reached)
            expected[practice, day, stage] = (place + 1, at[stage], reached, continued, lost)
    return expected
