"""Derive the time zone of a practice from JSON `created_at` and the local minutes of the CSV."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from vetl.core.pages import instant
from vetl.core.zones import names, offset_at, zone
from vetl.discovery.probes import Correction, Finding

ENOUGH = 5
"""Calls that must agree before a zone is believed."""
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

Pair = tuple[datetime, datetime]
"""One call: its instant, cut to the minute, and its practice-local minute as the CSV shows it."""


_ALIKE = ("direction", "client_name", "patient_name", "phone_number", "duration_seconds", "summary")
"""Columns by which a call is recognised; the time is left out, because its zone is the open question."""


def pairs(records: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]]) -> list[Pair]:
    """Pair calls of the CSV, by raw column, with JSON records; leave out those that another one resembles."""
    here = [(tuple(row[name] for name in _ALIKE), row["called_at_local"]) for row in rows]
    listed = [(tuple(_hashable(record.get(name)) for name in _ALIKE), record) for record in records]
    times, alike = dict(here), Counter(key for key, _ in (*here, *listed))
    calls: list[Pair] = []
    for key, record in listed:
        at = instant(record.get("created_at"))
        if at is not None and key in times and alike[key] == 2:  # noqa: PLR2004 - once in either form
            calls.append((at.replace(second=0, microsecond=0), times[key]))
    return calls


def _hashable(value: object) -> object:
    """Return a field of a record as a column would hold it. A list or an object is in no column."""
    return None if not value or isinstance(value, list | dict) else value


def contradiction(configured: str, calls: Sequence[Pair]) -> str | None:
    """Return why the configured zone is wrong; `None` if it fits or too few calls show it.

    No other zone is named, because these are calls of a few days and the clocks of zones differ by season.
    """
    if len(calls) < ENOUGH or fits(configured, calls):
        return None
    return f"{_evidence(calls)}, {configured} does not: run `vetl doctor`, which compares calls of a whole year"


def fits(name: str, calls: Sequence[Pair]) -> bool:
    """Return whether every call has its local minute in this zone."""
    rules = zone(name)
    return all(at.astimezone(rules).replace(tzinfo=None) == local for at, local in calls)


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
    evidence, zones = _evidence(calls), zones_that_fit(calls, configured)
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


def _evidence(calls: Sequence[Pair]) -> str:
    offsets = ", ".join(sorted({_offset(at, local) for at, local in calls}))
    return f"{len(calls)} calls in JSON and CSV differ by {offsets} from UTC"


def _offset(at: datetime, local: datetime) -> str:
    minutes = int((local - at.astimezone(UTC).replace(tzinfo=None)).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours}:{rest:02}"
