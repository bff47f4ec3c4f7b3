"""The edges of a date range: finer than a day? inclusive? whose days?"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from pipelines.core.pages import Row
from pipelines.core.steps import Plan
from pipelines.discovery.asking import ListKnowledge, ask, written
from pipelines.discovery.finding import Finding
from pipelines.reading.conventions import Bounds
from pipelines.reading.rows import instant, key_of

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
ROWS_TRIED = 3

Found = Plan[list[Finding]]
Timed = tuple[Row, datetime]
Contains = Plan[bool | None]


def check_edges(knowledge: ListKnowledge, rows: Sequence[Row], column: str = "updated_at") -> Found:
    """Ranges of a second around single rows, then on them. `rows` are some of the list."""
    timed = timed_rows(rows, column)
    if not timed or not {"start", "end"} <= knowledge.proven:
        return [Finding(knowledge.endpoint, "bounds", "unknown", "", "no row with a time to try them on")]
    if knowledge.bounds == "instant" and (yield from granularity(knowledge, timed)) != "instant":
        knowledge.bounds = "day"
    if knowledge.bounds == "instant":
        row, at = timed[0]
        exact = written(at, "instant", sharp=True)
        start = yield from _contains(knowledge, row, exact, written(at + 2 * SECOND, "instant"))
        end = yield from _contains(knowledge, row, written(at - SECOND, "instant"), exact)
        return [_edges(knowledge, start, end, "a range around a row holds it, one beside it does not")]
    return (yield from _day_edges(knowledge, timed))


def timed_rows(rows: Sequence[Row], column: str = "updated_at") -> list[Timed]:
    """The rows whose time can be read, with it."""
    return [(row, at) for row in rows if (at := instant(row.get(column))) is not None]


def is_clear_of_midnights(at: datetime) -> bool:
    """Whether a minute on each side of a time is on one day with it in every zone: they differ by quarters."""
    return 1 <= at.minute % 15 < 14  # noqa: PLR2004 - as above


def granularity(knowledge: ListKnowledge, timed: Sequence[Timed]) -> Plan[Bounds | None]:
    """The finest that start and end tell apart: a range around a row holds it, one before and one after it do not.

    `None` where the rows that were tried are too many for a page. Where no range around one holds it, ends are
    whole days and not included, or the rows have changed: days are right under both. Rows are tried first that
    are on one day with both ranges wherever that day begins.
    """
    tried = sorted(timed, key=lambda item: not is_clear_of_midnights(item[1]))
    held: set[bool | None] = set()
    for row, at in tried[:ROWS_TRIED]:
        around = yield from _contains(knowledge, row, *_range(at - SECOND, at + 2 * SECOND))
        held.add(around)
        if not around:
            continue
        earlier = yield from _contains(knowledge, row, *_range(at - 11 * SECOND, at - 9 * SECOND))
        later = yield from _contains(knowledge, row, *_range(at + 9 * SECOND, at + 11 * SECOND))
        if earlier or later:
            return "day"
        if earlier is False and later is False:
            return "instant"
    return "day" if held == {False} else None


def _day_edges(knowledge: ListKnowledge, timed: Sequence[tuple[Row, datetime]]) -> Found:
    zone = knowledge.reading.time_zone
    days = [(row, at.astimezone(UTC).date(), at.astimezone(zone).date()) for row, at in timed]
    start = end = None
    for row, day, _ in [item for item in days if item[1] == item[2]][:ROWS_TRIED]:
        start = yield from _contains(knowledge, row, *_days(day, day + DAY))
        end = yield from _contains(knowledge, row, *_days(day - DAY, day))
        if start is not None and end is not None:
            break
    findings = [_edges(knowledge, start, end, "ranges within a day are not told apart")]
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


def _edges(knowledge: ListKnowledge, start: bool | None, end: bool | None, evidence: str) -> Finding:  # noqa: FBT001
    shape = {True: "[]", False: "()", None: "??"}
    interval = f"{knowledge.bounds} {shape[start][0]}{shape[end][1]}"
    return Finding(knowledge.endpoint, "bounds", "note", interval, evidence)


def _range(start: datetime, end: datetime) -> tuple[str, str]:
    return written(start, "instant"), written(end, "instant")


def _days(start: date, end: date) -> tuple[str, str]:
    return start.isoformat(), end.isoformat()


def _contains(knowledge: ListKnowledge, row: Row, start: str, end: str) -> Contains:
    """Whether a range holds a row; nothing where it is refused, or has more rows than one page shows."""
    page = yield from ask(knowledge, {knowledge.names.start: start, knowledge.names.end: end, **knowledge.largest})
    if page is None:
        return None
    if key_of(row) in {key_of(other) for other in page.rows}:
        return True
    return False if page.total_count <= len(page.rows) else None
