"""Derive the time zone of a practice from JSON `created_at` and the local minutes of the CSV."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from vetl.discovery.csv_calls import local_minute, recognised_by, recognised_by_record
from vetl.discovery.report import Correction, Finding
from vetl.reading.rows import instant

ENOUGH = 5
"""Calls that must agree before a zone is believed."""
SHOWN = 5
STEP = 3
"""Days between two comparisons of all zones: after a change of clocks, zones differ for at least a week."""
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


def pairs(records: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, str]]) -> list[Pair]:
    """Pair CSV rows with JSON records; leave out rows and records that another one resembles."""
    seen = list(rows)
    times = {recognised_by(row): local_minute(row) for row in seen}
    alike = Counter(recognised_by(row) for row in seen)
    listed = [(recognised_by_record(record), instant(record.get("created_at"))) for record in records]
    twice = Counter(key for key, _ in listed)
    calls: list[Pair] = []
    for key, at in listed:
        local = times.get(key)
        if at is not None and local is not None and alike[key] == twice[key] == 1:
            calls.append((at.replace(second=0, microsecond=0), local))
    return calls


_ALIKE = ("direction", "client_name", "patient_name", "phone_number", "duration_seconds", "summary")


def pairs_here(records: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]]) -> list[Pair]:
    """Pair stored calls, by raw column (`steps.CallsHere`), with JSON records."""
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
    """Return why the configured zone is wrong and which zones fit; `None` if it fits or too few calls show it."""
    finding = check_zone("phone_calls", configured, calls)
    return f"{finding.evidence}: {finding.remedy}" if finding.state == "contradicts" else None


def fits(zone: str, calls: Sequence[Pair]) -> bool:
    """Return whether every call has its local minute in this zone."""
    rules = ZoneInfo(zone)
    return all(at.astimezone(rules).replace(tzinfo=None) == local for at, local in calls)


def zones_that_fit(calls: Sequence[Pair]) -> list[str]:
    """Return all zones in which every call has its local minute, preferred zones first."""
    zones = sorted(available_timezones(), key=lambda zone: (zone not in USUAL, "/" not in zone, zone))
    return [zone for zone in zones if fits(zone, calls)]


def other_zones_that_fit(configured: str, calls: Sequence[Pair]) -> list[str]:
    """Return all zones that fit these calls, without the configured one."""
    return [zone for zone in available_timezones() if zone != configured and fits(zone, calls)]


def distinguishing_day(
    configured: str, others: Sequence[str], start: date, end: date, seen: Collection[date]
) -> date | None:
    """Return the latest day of `[start, end]` on which most of the other zones differ from the configured one.

    Leave out days within `BESIDE` of a day in `seen`. Return `None` if the zones agree on all days.
    """
    own, rules = ZoneInfo(configured), [ZoneInfo(zone) for zone in others]
    best, most = None, 0
    for back in range(0, (end - start).days + 1, STEP):
        day = end - timedelta(days=back)
        noon = datetime(day.year, day.month, day.day, 18, tzinfo=UTC)
        offset = noon.astimezone(own).utcoffset()
        differing = sum(noon.astimezone(zone).utcoffset() != offset for zone in rules)
        if differing > most and all(abs(day - other) > BESIDE for other in seen):
            best, most = day, differing
    return best


def check_zone(endpoint: str, configured: str, calls: Sequence[Pair]) -> Finding:
    """Return a finding that confirms the configured zone or names the zones that fit."""
    if len(calls) < ENOUGH:
        evidence = f"{len(calls)} calls could be matched between JSON and CSV; {ENOUGH} are needed"
        return Finding(endpoint, "time zone", "unknown", configured, evidence)
    offsets = ", ".join(sorted({_offset(at, local) for at, local in calls}))
    evidence = f"{len(calls)} calls in JSON and CSV differ by {offsets} from UTC"
    if fits(configured, calls):
        return Finding(endpoint, "time zone", "ok", configured, evidence)
    zones = zones_that_fit(calls)
    if not zones:
        remedy = "ask the platform which time zone the practice keeps"
        return Finding(endpoint, "time zone", "contradicts", "none fits", evidence, remedy)
    others = f" ({', '.join(zones[1:SHOWN])} fit as well)" if zones[1:] else ""
    return Finding(
        endpoint,
        "time zone",
        "contradicts",
        zones[0],
        f"{evidence}, {configured} does not",
        f'set time_zone = "{zones[0]}"{others}',
        Correction("time_zone", zones[0]),
    )


def _offset(at: datetime, local: datetime) -> str:
    minutes = int((local - at.astimezone(UTC).replace(tzinfo=None)).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours}:{rest:02}"
