"""Lists with a date range whose answers hide rows unless a status is requested.

The contract shows an optional `status` of booking sessions, and not which statuses a list without it has. A server
may show some of them only. Then the list of each status is read whole in each sync, the status from which rows
leave by themselves first, so that a row which leaves it meanwhile is in a list that is read later.

Requests: four at the first sync, until each final status has rows, at each reconcile, and as long as rows are
hidden; one more for each status if their totals add up to more than the list. If rows are hidden, the pages of the
list of each status.
"""

from collections.abc import Mapping
from dataclasses import replace

from vetl.core.endpoint import UpdatedWindows
from vetl.core.errors import RequestRefused
from vetl.core.list_read import Outcome, Reading, Result
from vetl.core.pages import Page, Window
from vetl.core.steps import Flush, IdsHere, Learnt, MergeRows, Plan, do
from vetl.discovery.examination import find_status
from vetl.reading.by_id import get_by_id
from vetl.reading.conventions import UNPROVEN_END, QueryConventions
from vetl.reading.paging import united_ids
from vetl.reading.rows import key_of, updated_at
from vetl.reading.whole_list import read_by_status, union_evidence
from vetl.strategies.cursors import WindowsCursor

CAPABILITY, HIDES, SHOWS = "without_status", "hides rows", "all rows"
"""What the warehouse knows of the list without a status, and the two answers."""

ANY_STATUS = ""
"""The key of the page of the list without a status."""


def statuses_of(strategy: UpdatedWindows) -> tuple[str, ...]:
    """Return the statuses of the list, the one from which rows leave by themselves first."""
    return (strategy.derived_from, *strategy.final) if strategy.derived_from else ()


def find_hidden(
    conventions: QueryConventions, reading: Reading, strategy: UpdatedWindows
) -> Plan[QueryConventions | None]:
    """Return conventions with the name of the status filter if the list hides rows without it, else `None`."""
    known = reading.capabilities.get(CAPABILITY)
    is_due = known != SHOWS or reading.reconcile != "no"
    if not strategy.final or not is_due or conventions.status is Result.IGNORED:
        return None
    verdict: str | None = None
    pages: dict[str, Page] | None = None
    try:
        pages = yield from _count_by_status(conventions, reading, strategy)
        if pages is None:  # the filter may have another name
            conventions = yield from find_status(reading, conventions)
            pages = yield from _count_by_status(conventions, reading, strategy)
        if pages is not None:
            verdict = yield from _verdict(conventions, pages, strategy)
    except RequestRefused:
        verdict = None
    if verdict is not None and verdict != known:
        yield Learnt(CAPABILITY, verdict, f"the totals by status are {_totals(pages or {})}")
    return conventions if (verdict or known) == HIDES else None


def _count_by_status(
    conventions: QueryConventions, reading: Reading, strategy: UpdatedWindows
) -> Plan[dict[str, Page] | None]:
    """Return a smallest page of each status and of the whole list; `None` if the filter has no effect."""
    pages: dict[str, Page] = {}
    for status in reversed(statuses_of(strategy)):  # so that a row that changes its status counts once
        pages[status] = yield from do(conventions.count(replace(reading.whole_history, status=status)))
    whole = yield from do(conventions.count(reading.whole_history))
    if whole.total_count and {page.total_count for page in pages.values()} == {whole.total_count}:
        return None
    return {**pages, ANY_STATUS: whole}


def _verdict(
    conventions: QueryConventions, pages: Mapping[str, Page], strategy: UpdatedWindows
) -> Plan[str | None]:
    """Return whether the whole list hides rows; `None` if it is not known, because a status has no row yet."""
    by_status = [page for status, page in pages.items() if status != ANY_STATUS]
    if sum(page.total_count for page in by_status) <= pages[ANY_STATUS].total_count:
        return SHOWS if all(pages[status].total_count for status in strategy.final) else None
    for page in by_status:
        if page.rows and not (yield from _is_shown(conventions, page)):
            return HIDES
    return SHOWS


def _totals(pages: Mapping[str, Page]) -> str:
    return ", ".join(f"{page.total_count} {status or 'without one'}" for status, page in pages.items())


def _is_shown(conventions: QueryConventions, page: Page) -> Plan[bool]:
    """Return whether the first row of a page is in the list without a status, or may be."""
    row = page.rows[0]
    at = updated_at(row)
    if at is None:
        return True
    around = Window(at - conventions.shortest, at + conventions.shortest)
    listed = yield from do(conventions.page(around, 0, lenient=True))
    return listed.total_count > len(listed.rows) or key_of(row) in {key_of(other) for other in listed.rows}


def read_hidden(conventions: QueryConventions, reading: Reading, strategy: UpdatedWindows) -> Plan[Outcome]:
    """Read the list of each status. The coverage by windows starts again if the server stops hiding rows."""
    through = reading.now if conventions.reaches_now else reading.now - UNPROVEN_END
    if reading.cursor:
        yield WindowsCursor(covered=()).move()
    whole = yield from read_by_status(conventions, statuses_of(strategy), reading.whole_history)
    evidence = union_evidence(whole, replace(reading.whole_history, end=through))
    yield MergeRows((), whole.last.read_at, certificate=evidence)
    yield Flush()
    if whole.certified and reading.reconcile != "no":
        seen = united_ids(whole.passes)
        here = yield from do(IdsHere())
        yield from get_by_id([identity for identity in here if identity not in seen], reading.now)
        yield Flush()
    return Outcome(whole.certified, through if whole.certified else None, whole.reason)
