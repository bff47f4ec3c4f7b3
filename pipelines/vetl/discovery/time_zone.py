"""Derive the time zone of a practice from JSON `created_at` and the local minutes of the CSV."""

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta

from vetl.core.zones import ENOUGH, Pair, differences, fits, names, offset_at
from vetl.discovery.probes import Correction, Finding

SHOWN = 5
STEP = 3
"""Days between two comparisons of all zones: after a change of clocks, zones differ for at least a week."""
YEAR = timedelta(days=366)
NOON = time(18, tzinfo=UTC)
"""The time of a day at which zones are compared: about noon in America."""
BESIDE = timedelta(days=1)
"""Calls of the days beside a distinguishing day are compared too."""
USUAL = (
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Phoenix",
    "America/Los_Angeles",
    "America/Anchorage",
    "Pacific/Honolulu",
    "America/Toronto",
    "America/Vancouver",
    "Europe/London",
    "Europe/Berlin",
    "Australia/Sydney",
)
"""Preferred zones, if several fit."""


def zones_that_fit(calls: Sequence[Pair], configured: str = "") -> list[str]:
    """Return all zones in which every call has its local minute: the configured one first, then the usual ones."""
    zones = sorted(names(), key=lambda name: (name != configured, name not in USUAL, "/" not in name, name))
    return [name for name in zones if fits(name, calls)]


def distinguishing_day(zones: Sequence[str], start: date, end: date, seen: Collection[date]) -> date | None:
    """Return the latest day of `[start, end]` on which most zones differ from the first one.

    Leave out days within `BESIDE` of a day in `seen`. Return `None` if the zones agree on all days.
    """
    best, most = None, 0
    for back in range(0, (end - start).days + 1, STEP):
        day = end - timedelta(days=back)
        at = datetime.combine(day, NOON)
        own = offset_at(zones[0], at)
        differing = sum(offset_at(name, at) != own for name in zones[1:])
        if differing > most and all(abs(day - other) > BESIDE for other in seen):
            best, most = day, differing
    return best


def check_zone(endpoint: str, configured: str, calls: Sequence[Pair]) -> Finding:
    """Return a finding that confirms the configured zone, names the zone that fits, or the zones to choose from.

    A zone is named alone only if all zones that fit these calls had the same time in the year before the last
    call: calls of one half of the year fit zones that differ in the other half.
    """
    if len(calls) < ENOUGH:
        evidence = f"{len(calls)} calls could be matched between JSON and CSV; {ENOUGH} are needed"
        return Finding(endpoint, "time zone", "unknown", configured, evidence)
    evidence, zones = differences(calls), zones_that_fit(calls, configured)
    if not zones:
        remedy = "ask the platform which time zone the practice keeps"
        return Finding(
            endpoint, "time zone", "contradicts", "none fits", f"{evidence}, {configured} does not", remedy
        )
    choices, differ_on = _choices(zones, min(at for at, _ in calls), max(at for at, _ in calls))
    more = f"{', '.join(choices[1:SHOWN])} {'fits' if len(choices) == 2 else 'fit'} as well"  # noqa: PLR2004
    if zones[0] == configured:
        if differ_on:
            evidence = f"{evidence}; {more}, with another time on {differ_on:%Y-%m-%d}"
        return Finding(endpoint, "time zone", "note" if differ_on else "ok", configured, evidence)
    evidence = f"{evidence}, {configured} does not"
    if differ_on:
        remedy = (
            f"ask the platform which zone the practice keeps, and set time_zone: {choices[0]} fits these calls,"
            f" {more}, and their times differ on {differ_on:%Y-%m-%d}, of which there are no calls"
        )
        return Finding(endpoint, "time zone", "contradicts", "several fit", evidence, remedy)
    same = f" ({', '.join(zones[1:SHOWN])} had the same time in the last year)" if zones[1:] else ""
    remedy, correction = f'set time_zone = "{zones[0]}"{same}', Correction("time_zone", zones[0])
    return Finding(endpoint, "time zone", "contradicts", zones[0], evidence, remedy, correction)


def _choices(zones: Sequence[str], first: datetime, last: datetime) -> tuple[list[str], date | None]:
    """Return one zone of each group that had the same time in the year, and a day on which two groups differ."""
    start = min(first, last - YEAR)
    moments = [start + timedelta(days=past) for past in range(0, (last - start).days + 1, STEP)]
    groups: dict[tuple[timedelta | None, ...], str] = {}
    for name in zones:
        groups.setdefault(tuple(offset_at(name, at) for at in moments), name)
    differing = (at.date() for at, *offsets in zip(moments, *groups, strict=True) if len(set(offsets)) > 1)
    return list(groups.values()), next(differing, None)
