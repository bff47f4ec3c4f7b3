"""Read lists without a date filter and without a known order: staff tasks (contract: Staff tasks).

Each sync reads the pending tasks and the totals by status. If a task has left `pending`, or a total differs from
the stored rows, the whole list is read. It is also read once a day, because an edit to a final task changes no
total. If a whole read finds that the list is sorted by `updated_at`, newest first, later syncs read from the top
down to rows that are older than the last sync.

Requests of a sync without changes: the pending pages and one for each other status (or the top pages and one for
each status), independent of the length of the history. At most these, and twice the whole list (see
`read_whole_list`), with one for each status; twice more if the list without a status hides rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from vetl.core.endpoint import FullScan
from vetl.core.errors import RequestRefused
from vetl.core.list_read import Outcome, Reading
from vetl.core.pages import Page, Row, Window
from vetl.core.steps import (
    Flush,
    IdsWithStatus,
    Learnt,
    MergeRows,
    Plan,
    do,
)
from vetl.discovery.examination import find_status
from vetl.reading.conventions import QueryConventions, Saving
from vetl.reading.following import read_page, read_promised
from vetl.reading.paging import (
    has_fallen,
    most_followed,
    read_pass,
)
from vetl.reading.rows import evidence_of, instant, key_of, updated_at
from vetl.reading.whole_list import WHOLE, read_whole_list
from vetl.strategies.cursors import WholeCursor
from vetl.strategies.totals import compare_totals, complete

NEWEST_UPDATED_FIRST = "newest_updated_first"


def read(reading: Reading, strategy: FullScan, conventions: QueryConventions) -> Plan[Outcome]:
    """Read the rows that may have changed; read the whole list if these are unknown, and once a day."""
    cursor, today = WholeCursor.model_validate(reading.cursor), reading.local_now.date()
    if cursor.whole_on == today and reading.since is None and reading.reconcile == "no":
        if reading.capabilities.get("order") == NEWEST_UPDATED_FIRST and conventions.page_base is not None:
            changes = yield from _read_top(reading, cursor, conventions, strategy)
        else:
            changes = yield from _read_open(reading, cursor, conventions, strategy)
        if changes:
            return changes
    return (yield from _read_all(conventions, reading, cursor, strategy))


def _read_all(
    conventions: QueryConventions, reading: Reading, cursor: WholeCursor, strategy: FullScan
) -> Plan[Outcome]:
    whole = yield from read_whole_list(conventions, sealed_before=_known_through(reading, cursor))
    if is_newest_updated_first(list(whole.last.evidence)):
        yield Learnt("order", NEWEST_UPDATED_FIRST, "updated_at never rises over a whole read, created_at does")
    elif reading.capabilities.get("order") == NEWEST_UPDATED_FIRST:
        yield Learnt("order", "unknown", "a whole read does not show it any more")
    whole = yield from complete(reading, conventions, strategy.statuses, whole)
    if whole.certified:
        yield WholeCursor(whole_on=reading.local_now.date(), through=reading.now).move()
    yield Flush()
    return Outcome(whole.certified, reading.now if whole.certified else None, whole.reason)


def _known_through(reading: Reading, cursor: WholeCursor) -> datetime | None:
    """Return the time before which every change is stored, or `None` before the first certified read."""
    # The source's clock may have been put back since the last read.
    return cursor.through and min(cursor.through, reading.now) - reading.margins.overlap


def _read_open(
    reading: Reading, cursor: WholeCursor, conventions: QueryConventions, strategy: FullScan
) -> Plan[Outcome | None]:
    """Read the open rows; return `None` if they or the totals by status show that other rows have changed.

    An edit to a final row changes neither, so the list stays certified through the last whole read.
    """
    conventions = yield from find_status(reading, conventions)
    listed: set[str] = set()
    for status in strategy.open_statuses:
        try:
            done = yield from read_pass(replace(conventions, saving=Saving()), Window(status=status))
        except RequestRefused:
            return None
        yield MergeRows(done.rows, done.read_at)
        listed |= done.keys
        if not done.whole:
            return None
    open_here = yield from do(IdsWithStatus(strategy.open_statuses))
    if not listed.issuperset(open_here) or not (yield from _totals_agree(reading, conventions, strategy)):
        return None
    return Outcome(
        True,
        cursor.through,
        "open tasks and totals by status agree; edits to final ones as of the last whole read",
    )


def _read_top(
    reading: Reading, cursor: WholeCursor, conventions: QueryConventions, strategy: FullScan
) -> Plan[Outcome | None]:
    """Read from the top down to the first stored row; return `None` if that does not show every change."""
    if not (yield from _reaches_the_known(conventions, _known_through(reading, cursor))):
        return None
    if not (yield from _totals_agree(reading, conventions, strategy)):
        return None
    yield WholeCursor(whole_on=cursor.whole_on, through=reading.now).move()
    yield Flush()
    return Outcome(True, reading.now, "newest changes and totals by status agree")


def _totals_agree(reading: Reading, conventions: QueryConventions, strategy: FullScan) -> Plan[bool]:
    yield Flush()
    return (yield from compare_totals(reading, conventions, strategy.statuses)).agree


def _reaches_the_known(conventions: QueryConventions, through: datetime | None) -> Plan[bool]:
    """Read from the top until a row is older than `through`; return whether every change was read.

    It was not if the order is broken, or if a row was deleted: the rows below it move up, perhaps past the next
    page.
    """
    totals: list[int] = []
    rows: list[Row] = []
    seen: set[str] = set()
    page: Page | None = None
    while not totals or len(totals) < most_followed(conventions, totals[0]):
        page = yield from (
            read_promised(conventions, WHOLE, len(totals), page) if page else read_page(conventions, WHOLE, 0)
        )
        yield MergeRows(page.rows, page.server_time)
        totals.append(page.total_count)
        fresh = {key_of(row) for row in page.rows} - seen
        seen |= fresh
        rows += map(evidence_of, page.rows)
        times = [at for row in page.rows if (at := updated_at(row)) is not None]
        if not fresh or (times and through and min(times) < through) or len(rows) >= page.total_count:
            return _never_rises(rows) and not has_fallen(totals)
    return False


def _never_rises(rows: Sequence[Row], name: str = "updated_at") -> bool:
    """Return whether a time never rises from a row to the next, without repetitions of rows that shifted."""
    first_seen: dict[str, Row] = {}
    for row in rows:
        first_seen.setdefault(key_of(row), row)
    times = [instant(row.get(name)) for row in first_seen.values()]
    instants = [at for at in times if at is not None]
    return len(instants) == len(times) and all(above >= below for above, below in pairwise(instants))


def is_newest_updated_first(rows: Sequence[Row]) -> bool:
    """Return whether a whole read proves the order: at least 20 distinct times that never rise."""
    # Without later changes the order by creation looks the same, so it must be excluded.
    enough = 20
    distinct = len({updated_at(row) for row in rows}) >= enough
    return distinct and _never_rises(rows) and not _never_rises(rows, "created_at")
