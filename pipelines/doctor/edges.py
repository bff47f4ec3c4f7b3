"""The edges of a date range: finer than a day? inclusive? whose days?"""

from collections.abc import Generator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pipelines.doctor.asking import Known, ask, written
from pipelines.doctor.finding import Finding
from pipelines.pages import Row
from pipelines.steps import Step
from pipelines.strategies.learning import instant
from pipelines.strategies.paging import key_of

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
ROWS_TRIED = 3

Found = Generator[Step, Any, list[Finding]]
Contains = Generator[Step, Any, bool | None]


def check_edges(known: Known, rows: Sequence[Row], column: str = "updated_at") -> Found:
    """Ranges of a second around single rows, then on them. `rows` are some of the list."""
    timed = [(row, at) for row in rows if (at := instant(row.get(column))) is not None]
    if not timed or not {"start", "end"} <= known.proven:
        return [Finding(known.endpoint, "bounds", "unknown", "", "no row with a time to try them on")]
    if known.bounds == "instant" and not (yield from _finer_than_a_day(known, timed[:ROWS_TRIED])):
        known.bounds = "day"
    if known.bounds == "instant":
        row, at = timed[0]
        exact = written(at, "instant", sharp=True)
        start = yield from _contains(known, row, exact, written(at + 2 * SECOND, "instant"))
        end = yield from _contains(known, row, written(at - SECOND, "instant"), exact)
        return [_edges(known, start, end, "a range around a row holds it, one beside it does not")]
    return (yield from _day_edges(known, timed))


def _finer_than_a_day(known: Known, timed: Sequence[tuple[Row, datetime]]) -> Generator[Step, Any, bool]:
    for row, at in timed:
        around = yield from _contains(known, row, *_range(at - SECOND, at + 2 * SECOND))
        # On the same day wherever that day begins: zones differ by quarters of an hour.
        side = 10 * SECOND if at.minute % 15 < 14 else -10 * SECOND  # noqa: PLR2004
        beside = yield from _contains(known, row, *_range(at + side - SECOND, at + side + SECOND))
        if around and beside is False:
            return True
    return False


def _day_edges(known: Known, timed: Sequence[tuple[Row, datetime]]) -> Found:
    zone = known.reading.time_zone
    days = [(row, at.astimezone(UTC).date(), at.astimezone(zone).date()) for row, at in timed]
    start = end = None
    for row, day, _ in [item for item in days if item[1] == item[2]][:ROWS_TRIED]:
        start = yield from _contains(known, row, *_days(day, day + DAY))
        end = yield from _contains(known, row, *_days(day - DAY, day))
        if start is not None and end is not None:
            break
    findings = [_edges(known, start, end, "ranges within a day are not told apart")]
    if start is None:
        return findings
    for row, utc, local in [item for item in days if item[1] != item[2]][:ROWS_TRIED]:
        later = max(utc, local)
        first = later if start else min(utc, local)
        inside = yield from _contains(known, row, *_days(first, later + DAY))
        if inside is not None:
            whose = "UTC" if inside == (utc > local) else "practice"
            evidence = "by a row whose UTC day is not its practice-local day"
            return [*findings, Finding(known.endpoint, "days", "note", whose, evidence)]
    return [*findings, Finding(known.endpoint, "days", "unknown", "", "no row on two different days")]


def _edges(known: Known, start: bool | None, end: bool | None, evidence: str) -> Finding:  # noqa: FBT001
    shape = {True: "[]", False: "()", None: "??"}
    found = f"{known.bounds} {shape[start][0]}{shape[end][1]}"
    return Finding(known.endpoint, "bounds", "note", found, evidence)


def _range(start: datetime, end: datetime) -> tuple[str, str]:
    return written(start, "instant"), written(end, "instant")


def _days(start: date, end: date) -> tuple[str, str]:
    return start.isoformat(), end.isoformat()


def _contains(known: Known, row: Row, start: str, end: str) -> Contains:
    """Whether a range holds a row; nothing where it is refused, or has more rows than one page shows."""
    page = yield from ask(known, {known.names.start: start, known.names.end: end, **known.largest})
    if page is None:
        return None
    if key_of(row) in {key_of(other) for other in page.rows}:
        return True
    return False if page.total_count <= len(page.rows) else None
