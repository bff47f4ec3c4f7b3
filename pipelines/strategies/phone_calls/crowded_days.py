"""A day whose calls do not fit one page of the CSV: read from the JSON list, where each call has an id.

Without ids nothing proves a day that is paged. Two passes that agree do not: where calls of one time are sorted
anew for each page, one is repeated and another skipped, in every pass alike.

Argument: a call that was met neither later than some answer and, as it was, neither earlier than it, was there at
that answer, as it was met. If there are as many of those as that answer's total, they are the day at one instant,
whatever was inserted, changed, deleted or sorted otherwise meanwhile. Assumptions: an id is not used twice, and no
call changes and changes back between two looks at it.

Requests: two passes where nothing moves, at most `PASSES`; one of `total // page size + 1` pages, so that what
lies beyond a capped total is seen. Each pass asks for pages smaller by one, so that they end elsewhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipelines.core.pages import Certificate, Page, Row, Window, WindowKind
from pipelines.core.steps import Plan
from pipelines.reading.conventions import QueryConventions, contradiction
from pipelines.reading.following import follow, tolerant
from pipelines.reading.paging import Pass, certificate, uncertified
from pipelines.reading.rows import key_of

PASSES = 5
PASSES_OF_A_LIE = 2
PROVEN = "every call was read both before and after the same answer, and they add up to its total"


def may_rest(over: datetime, looked: datetime, now: datetime) -> bool:
    """Whether a crowded day with calls that are not final yet is left as it is by this sync.

    It costs hundreds of requests to read, so the time between two looks doubles with its age at the last one: a
    day that is `over` for an hour is looked at after two, four and eight hours, and so on. The daily and the
    weekly re-read take it as any other day.
    """
    return now - looked < looked - over


@dataclass(frozen=True, slots=True)
class Crowded:
    """The calls of a day, each once, and the evidence that they are all, or why it is not enough."""

    rows: Sequence[Row]
    evidence: Certificate


def read_crowded(conventions: QueryConventions, window: Window, kind: WindowKind) -> Plan[Crowded]:
    """Read the JSON list of a day until what was met proves it whole. `kind` names it in `control.windows`."""
    passes: list[Pass] = []
    largest = conventions.page_size
    lied = False
    while len(passes) < (PASSES_OF_A_LIE if lied else PASSES):
        asked = replace(conventions, page_size=max(1, largest - len(passes)), lenient=lied)
        passes.append((yield from _one_pass(asked, window)))
        largest, lied = min(largest, passes[0].size), lied or bool(passes[-1].lie)
        for number in range(1, len(passes)):
            rows = held_at(passes, number)
            if rows is not None:
                return Crowded(rows, _evidence(passes, number, kind, rows))
    rows = list({key_of(row): row for row in passes[-1].rows}.values())
    lie = next((done.lie for done in passes if done.lie), None)
    doubt = lie or passes[-1].refusal or "its calls were never read completely"
    evidence = _evidence(passes, -1, kind, rows)
    return Crowded(rows, uncertified(evidence, f"{doubt}, in {len(passes)} passes over a day beyond one page"))


def held_at(passes: Sequence[Pass], number: int) -> Sequence[Row] | None:
    """What the list held when a pass began, if all that was met before and after is as much as it told then."""
    answer = passes[number].pages[0]
    before, after = _nearest(reversed(passes[:number])), _nearest(passes[number:])
    now = {key_of(row): row for row in answer.rows}
    there = (before.keys() & after.keys()) | now.keys()
    if any(done.lie for done in passes) or len(there) != answer.total_count:
        return None
    held = [now.get(key) or (after[key] if before[key] == after[key] else None) for key in there]
    return None if None in held else [row for row in held if row is not None]


def _nearest(passes: Iterable[Pass]) -> dict[str, Row | None]:
    """Each row as the first of these passes that met it did; `None` where that one met it in two forms."""
    rows_by_key: dict[str, Row | None] = {}
    for done in passes:
        rows_of_pass: dict[str, Row | None] = {}
        for row in done.rows:
            key = key_of(row)
            rows_of_pass[key] = row if rows_of_pass.setdefault(key, row) == row else None
        rows_by_key = rows_of_pass | rows_by_key
    return rows_by_key


def _one_pass(conventions: QueryConventions, window: Window) -> Plan[Pass]:
    first: Page = yield from tolerant(conventions, window, 0)
    size = min(conventions.page_size, first.per_page or conventions.page_size)
    count = 1 if contradiction(first, 0, size) else first.total_count // size + 1
    followed = yield from follow(conventions, window, first, count, size)
    return Pass(window, (first, *followed.pages), size, unkept=followed.unkept)


def _evidence(passes: Sequence[Pass], number: int, kind: WindowKind, rows: Sequence[Row]) -> Certificate:
    return replace(
        certificate(passes[number], kind, retries=len(passes) - 1, reason=PROVEN),
        rows=len(rows),
        distinct_ids=len(rows),
        requests=sum(page.requests for done in passes for page in done.pages),
        started=passes[0].started,
        finished=passes[-1].read_at,
    )
