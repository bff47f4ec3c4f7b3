"""Lists with a date range whose answers hide rows unless a status is requested.

The contract shows an optional `status` of booking sessions, and not which statuses a list without it has. A server
may show some of them only. Then the list of each status is read whole in each sync, the status from which rows
leave by themselves first, so that a row which leaves it meanwhile is in a list that is read later.

Requests: four at the first sync, at each reconcile, and as long as rows are hidden; one more for each status if
their totals add up to more than the list. If rows are hidden, the pages of each list.
"""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.core.capabilities import Result
from pipelines.core.endpoint import UpdatedWindows
from pipelines.core.errors import RequestRefused
from pipelines.core.list_read import Outcome, Reading
from pipelines.core.pages import Page, Window
from pipelines.core.steps import Flush, IdsHere, Learnt, MergeRows, Plan, do
from pipelines.discovery.examination import find_status
from pipelines.reading.by_id import get_by_id
from pipelines.reading.conventions import UNPROVEN_END, QueryConventions
from pipelines.reading.paging import united_ids
from pipelines.reading.rows import key_of, key_of_id, updated_at
from pipelines.reading.whole_list import read_by_status, union_evidence
from pipelines.strategies.cursors import WindowsCursor

CAPABILITY, HIDES, SHOWS = "without_status", "hides rows", "all rows"


def statuses_of(strategy: UpdatedWindows) -> tuple[str, ...]:
    """Return the statuses of the list, the one from which rows leave by themselves first."""
    return (strategy.derived_from, *strategy.final) if strategy.derived_from else ()


def find_hidden(
    conventions: QueryConventions, reading: Reading, strategy: UpdatedWindows
) -> Plan[QueryConventions | None]:
    """Return conventions with the name of the status filter if the list hides rows without it, else `None`."""
    is_known = reading.capabilities.get(CAPABILITY) == HIDES
    is_due = not reading.cursor or reading.reconcile != "no" or is_known
    if not strategy.final or not is_due or conventions.status is Result.IGNORED:
        return None
    try:
        hidden = yield from _hidden(conventions, reading, statuses_of(strategy))
        if hidden is None:  # the filter may have another name
            conventions = yield from find_status(reading, conventions)
            hidden = yield from _hidden(conventions, reading, statuses_of(strategy))
    except RequestRefused:
        hidden = ()
    if hidden:
        yield Learnt(CAPABILITY, HIDES, f"a row with status {hidden[0]} is in the list of this status alone")
    elif is_known:
        yield Learnt(CAPABILITY, SHOWS, "the list without a status has rows of every status")
    return conventions if hidden else None


def _hidden(
    conventions: QueryConventions, reading: Reading, statuses: Sequence[str]
) -> Plan[Sequence[str] | None]:
    """Return the statuses with a row that is not in the whole list; `None` if the filter has no effect."""
    pages: dict[str, Page] = {}
    for status in reversed(statuses):  # so that a row that changes its status counts once
        window = replace(reading.whole_history, status=status)
        pages[status] = yield from do(conventions.count(window))
    whole = yield from do(conventions.count(reading.whole_history))
    totals = {page.total_count for page in pages.values()}
    if whole.total_count and totals == {whole.total_count}:
        return None
    if sum(page.total_count for page in pages.values()) <= whole.total_count:
        return ()
    hidden: list[str] = []
    for status, page in pages.items():
        if page.rows and not (yield from _is_shown(conventions, page)):
            hidden.append(status)
    return hidden


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
        yield from get_by_id([identity for identity in here if key_of_id(identity) not in seen], reading.now)
        yield Flush()
    return Outcome(whole.certified, through if whole.certified else None, whole.reason)
