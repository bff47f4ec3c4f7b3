"""Check the bounds of a date range: finer than a day or not, inclusive or not, UTC days or practice-local days."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from vetl.core.pages import Row
from vetl.core.steps import Plan
from vetl.discovery.probes import ListKnowledge, ask, format_bound
from vetl.discovery.report import Finding
from vetl.reading.conventions import Bounds
from vetl.reading.rows import instant, key_of

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
ROWS_TRIED = 3

Findings = Plan[list[Finding]]
Timed = tuple[Row, datetime]
Contains = Plan[bool | None]


def check_bounds(knowledge: ListKnowledge, rows: Sequence[Row], column: str = "updated_at") -> Findings:
    """Read ranges of a second around single rows, then ranges that start or end at a row. `rows` are a sample."""
    timed = timed_rows(rows, column)
    if not timed or not {"start", "end"} <= knowledge.proven:
        return [Finding(knowledge.endpoint, "bounds", "unknown", "", "no row with a time to try them on")]
    if knowledge.bounds == "instant" and (yield from granularity(knowledge, timed)) != "instant":
        knowledge.bounds = "day"
    if knowledge.bounds == "instant":
        row, at = timed[0]
        exact = format_bound(at, "instant", sharp=True)
        start = yield from _contains(knowledge, row, exact, format_bound(at + 2 * SECOND, "instant"))
        end = yield from _contains(knowledge, row, format_bound(at - SECOND, "instant"), exact)
        return [_bounds_finding(knowledge, start, end, "a range around a row holds it, one beside it does not")]
    return (yield from _day_bounds(knowledge, timed))


def timed_rows(rows: Sequence[Row], column: str = "updated_at") -> list[Timed]:
    """Return the rows whose time can be parsed, each with its time."""
    return [(row, at) for row in rows if (at := instant(row.get(column))) is not None]


def is_clear_of_midnights(at: datetime) -> bool:
    """Return whether the minutes beside a time are on its day in every zone; zones differ by 15-minute steps."""
    return 1 <= at.minute % 15 < 14  # noqa: PLR2004 - as above


def granularity(knowledge: ListKnowledge, timed: Sequence[Timed]) -> Plan[Bounds | None]:
    """Return "instant" if start and end distinguish seconds, else "day".

    A server distinguishes seconds if a range around a row holds the row and the ranges before and after do not. If
    no range around a row holds it, ends are whole days and exclusive, or the row has changed; whole days are
    correct in both cases. Return `None` if the ranges hold more rows than one page. Rows are tried first whose
    ranges are on one day in every time zone.
    """
    tried = sorted(timed, key=lambda item: not is_clear_of_midnights(item[1]))
    answers: set[bool | None] = set()
    for row, at in tried[:ROWS_TRIED]:
        around = yield from _contains(knowledge, row, *_range(at - SECOND, at + 2 * SECOND))
        answers.add(around)
        if not around:
            continue
        earlier = yield from _contains(knowledge, row, *_range(at - 11 * SECOND, at - 9 * SECOND))
        later = yield from _contains(knowledge, row, *_range(at + 9 * SECOND, at + 11 * SECOND))
        if earlier or later:
            return "day"
        if earlier is False and later is False:
            return "instant"
    return "day" if answers == {False} else None


def _day_bounds(knowledge: ListKnowledge, timed: Sequence[tuple[Row, datetime]]) -> Findings:
    zone = knowledge.reading.time_zone
    days = [(row, at.astimezone(UTC).date(), at.astimezone(zone).date()) for row, at in timed]
    start = end = None
    for row, day, _ in [item for item in days if item[1] == item[2]][:ROWS_TRIED]:
        start = yield from _contains(knowledge, row, *_days(day, day + DAY))
        end = yield from _contains(knowledge, row, *_days(day - DAY, day))
        if start is not None and end is not None:
            break
    findings = [_bounds_finding(knowledge, start, end, "ranges within a day give the same rows")]
    if start is None:
        return findings
    for row, utc, local in [item for item in days if item[1] != item[2]][:ROWS_TRIED]:
        later = max(utc, local)
        first = later if start else min(utc, local)
        inside = yield from _contains(knowledge, row, *_days(first, later + DAY))
        if inside is not None:
            whose = "UTC" if inside == (utc > local) else "practice"
            evidence = "by a row whose UTC day is not its practice-local day"
            return [*findings, Finding(knowledge.endpoint, "days", "note", whose, evidence)]
    return [*findings, Finding(knowledge.endpoint, "days", "unknown", "", "no row on two different days")]


def _bounds_finding(knowledge: ListKnowledge, start: bool | None, end: bool | None, evidence: str) -> Finding:  # noqa: FBT001
    shape = {True: "[]", False: "()", None: "??"}
    interval = f"{knowledge.bounds} {shape[start][0]}{shape[end][1]}"
    return Finding(knowledge.endpoint, "bounds", "note", interval, evidence)


def _range(start: datetime, end: datetime) -> tuple[str, str]:
    return format_bound(start, "instant"), format_bound(end, "instant")


def _days(start: date, end: date) -> tuple[str, str]:
    return start.isoformat(), end.isoformat()


def _contains(knowledge: ListKnowledge, row: Row, start: str, end: str) -> Contains:
    """Return whether a range holds a row; `None` if the range is refused or has more rows than one page."""
    page = yield from ask(knowledge, {knowledge.names.start: start, knowledge.names.end: end, **knowledge.largest})
    if page is None:
        return None
    if key_of(row) in {key_of(other) for other in page.rows}:
        return True
    return False if page.total_count <= len(page.rows) else None
