"""Read lists without a date filter: AI outbound requests and staff tasks.

AI outbound requests come most recent first (contract: AI outbound requests). Assumption: `created_at` never rises
from row to row, and new rows appear at the top. While pages are read from the top, a new row shifts rows only
towards pages that are still to be read, so rows are repeated but never skipped. A deleted row shifts rows upwards,
and the total falls: then the list is read again. Rows with a final status do not change, so the read ends at the
time of the last sync, but at least seven days back (the platform's sweeper ends every request after 96 hours).
Open requests below that are got by id. If the order does not hold, the list is read whole.

Proof: the totals of the six statuses equal the stored rows. They are read in the order of the life cycle, so that
a request that changes its status meanwhile is counted twice and never missed.

Requests of a sync without changes: the pages of the last seven days, one for each status, one for each older open
request. At most three times that, each time with at most twice the pages of the list, and the whole list twice
(`read_whole_list`).

Staff tasks come in no known order (contract: Staff tasks). Each sync reads the pending tasks and the totals by
status. If a task has left `pending`, or a total differs from the stored rows, the whole list is read. It is also
read once a day, because an edit to a final task changes no total. If a whole read finds that the list is sorted by
`updated_at`, newest first, later syncs read from the top down to rows that are older than the last sync.

Requests of a sync without changes: the pending pages and one for each other status (or the top pages and one for
each status), independent of the length of the history. At most these, and twice the whole list (see
`read_whole_list`), with one for each status; twice more if the list without a status hides rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

from vetl.core import steps
from vetl.core.endpoint import FullScan, NewestFirst
from vetl.core.errors import RequestRefused
from vetl.core.list_read import Outcome, Reading
from vetl.core.pages import Certificate, Page, Row, Window, WindowKind, instant, key_of, updated_at
from vetl.discovery.conventions import QueryConventions, contradiction
from vetl.discovery.discover import find_status
from vetl.reading.coverage import TopCursor, WholeCursor
from vetl.reading.paging import has_fallen, most_followed, read_page, read_pass, read_promised
from vetl.reading.rows_by_id import get_by_id
from vetl.reading.whole_list import WHOLE, Counts, compare_totals, complete, read_whole_list

LOOK_BACK = timedelta(days=7)
MARGIN = timedelta(hours=1)
ATTEMPTS = 3


def read_newest_first(
    reading: Reading, strategy: NewestFirst, conventions: QueryConventions
) -> steps.Plan[Outcome]:
    """Read from the top down to stored rows and prove the result by the totals, or else read the list whole."""
    # If the base of the page numbers is unknown, a page may be the page before it, so its order proves nothing.
    for _ in range(ATTEMPTS if conventions.page_base is not None else 0):
        descent = yield from _descend(conventions, "created_at", _horizon(reading))
        if not descent.ordered:
            break
        if has_fallen(descent.totals):
            continue
        if (yield from _get_unread(strategy, descent, reading)):
            break
        counts = yield from compare_totals(reading, conventions, strategy.statuses)
        if counts.agree or (counts.status_is_ignored and sum(counts.here.values()) == descent.total):
            yield steps.MergeRows((), reading.now, certificate=_evidence(descent, counts, reading))
            yield TopCursor(through=reading.now).move()
            yield steps.Flush()
            return Outcome(True, reading.now, "totals by status agree")
        if descent.lied:
            break
    return (yield from _read_all_requests(conventions, reading, strategy))


def _horizon(reading: Reading) -> datetime | None:
    """Return the time of creation below which the read may end, or `None` if it must reach the end of the list."""
    through = TopCursor.model_validate(reading.cursor).through
    if through is None:
        return None
    horizon = min(reading.now - LOOK_BACK, through - MARGIN)
    for day, _ in reading.read_again:
        horizon = min(horizon, reading.local_midnight(day))
    return None if reading.reconcile == "full" else horizon


@dataclass(slots=True)
class _Descent:
    """The state of a read from the top; `lied`: the last page does not have the rows that its total promises."""

    column: str
    seen: set[str] = field(default_factory=set[str])
    lowest: datetime | None = None
    ordered: bool = True
    lied: bool = False
    totals: list[int] = field(default_factory=list[int])
    rows: int = 0
    requests: int = 0

    @property
    def total(self) -> int:
        """Return the total of the first page."""
        return self.totals[0]

    @property
    def pages(self) -> int:
        return len(self.totals)

    def meet(self, page: Page, size: int) -> None:
        seen_before, contradicts = len(self.seen), contradiction(page, self.pages, size) is not None
        self.totals.append(page.total_count)
        self.rows += len(page.rows)
        self.requests += page.requests
        for row in page.rows:
            self._meet_row(row)
        self.lied = contradicts or (len(self.seen) == seen_before and seen_before < page.total_count)

    def _meet_row(self, row: Row) -> None:
        at = instant(row.get(self.column))
        if key_of(row) in self.seen:
            return
        self.seen.add(key_of(row))
        if at is not None and self.lowest is not None and at > self.lowest:
            self.ordered = False
        self.lowest = at or self.lowest


def _descend(conventions: QueryConventions, column: str, horizon: datetime | None) -> steps.Plan[_Descent]:
    """Read pages from the top, one after another, because a shift could hide a row between concurrent reads.

    The read ends below `horizon` in `column`. A list that grows almost as fast as it is read counts as unordered.
    """
    descent = _Descent(column)
    page: Page | None = None
    while True:
        page = yield from (
            read_promised(conventions, WHOLE, descent.pages, page) if page else read_page(conventions, WHOLE, 0)
        )
        descent.meet(page, conventions.page_size)
        yield steps.MergeRows(page.rows, page.server_time)
        below = horizon is not None and descent.lowest is not None and descent.lowest < horizon
        if not descent.ordered or descent.lied or not page.rows or below or descent.rows >= page.total_count:
            return descent
        descent.ordered = descent.pages < most_followed(conventions, descent.total)


def _get_unread(strategy: NewestFirst, descent: _Descent, reading: Reading) -> steps.Plan[list[str]]:
    """Get rows that the descent did not read: open requests, and in a reconcile those that it should have read.

    Return the doubts of `get_by_id`.
    """
    yield steps.Flush()
    ids = yield from steps.do(steps.IdsWithStatus(strategy.open_statuses))
    if reading.reconcile != "no":
        horizon = _horizon(reading)
        ids += yield from steps.do(steps.IdsHere("created_at", horizon) if horizon else steps.IdsHere())
    unread = [identity for identity in dict.fromkeys(ids) if identity not in descent.seen]
    doubts = yield from get_by_id(reading.endpoint.name, unread, reading.now)
    yield steps.Flush()
    return doubts


def _evidence(descent: _Descent, counts: Counts, reading: Reading) -> Certificate:
    return Certificate(
        window=Window(end=reading.now),
        kind=WindowKind.NEWEST_FIRST,
        total_first=descent.total,
        total_last=sum(counts.there.values()),
        rows=descent.rows,
        distinct_ids=len(descent.seen),
        requests=descent.requests + counts.requests,
        retries=0,
        certified=True,
        reason="totals by status agree" if counts.agree else "the total agrees; the status filter is ignored",
        started=reading.now,
        finished=reading.now,
    )


def _read_all_requests(
    conventions: QueryConventions, reading: Reading, strategy: NewestFirst
) -> steps.Plan[Outcome]:
    whole = yield from read_whole_list(conventions)
    whole = yield from complete(reading, conventions, strategy.statuses, whole)
    if whole.certified:
        yield TopCursor(through=reading.now).move()
    yield steps.Flush()
    return Outcome(whole.certified, reading.now if whole.certified else None, whole.reason)


NEWEST_UPDATED_FIRST = "newest_updated_first"


def read_full_scan(reading: Reading, strategy: FullScan, conventions: QueryConventions) -> steps.Plan[Outcome]:
    """Read the rows that may have changed; read the whole list if these are unknown, and once a day."""
    cursor, today = WholeCursor.model_validate(reading.cursor), reading.local_now.date()
    if cursor.whole_on == today and reading.since is None and reading.reconcile == "no":
        if reading.capabilities.get("order") == NEWEST_UPDATED_FIRST and conventions.page_base is not None:
            changes = yield from _read_top(reading, cursor, conventions, strategy)
        else:
            changes = yield from _read_open(reading, cursor, conventions, strategy)
        if changes:
            return changes
    return (yield from _read_all_tasks(conventions, reading, cursor, strategy))


def _read_all_tasks(
    conventions: QueryConventions, reading: Reading, cursor: WholeCursor, strategy: FullScan
) -> steps.Plan[Outcome]:
    whole = yield from read_whole_list(conventions, sealed_before=_known_through(reading, cursor))
    if is_newest_updated_first(list(whole.last.evidence)):
        yield steps.Learnt(
            "order", NEWEST_UPDATED_FIRST, "updated_at never rises over a whole read, created_at does"
        )
    elif reading.capabilities.get("order") == NEWEST_UPDATED_FIRST:
        yield steps.Learnt("order", "unknown", "a whole read does not show it any more")
    whole = yield from complete(reading, conventions, strategy.statuses, whole)
    if whole.certified:
        yield WholeCursor(whole_on=reading.local_now.date(), through=reading.now).move()
    yield steps.Flush()
    return Outcome(whole.certified, reading.now if whole.certified else None, whole.reason)


def _known_through(reading: Reading, cursor: WholeCursor) -> datetime | None:
    """Return the time before which every change is stored, or `None` before the first certified read."""
    # The source's clock may have been put back since the last read.
    return cursor.through and min(cursor.through, reading.now) - reading.margins.overlap


def _read_open(
    reading: Reading, cursor: WholeCursor, conventions: QueryConventions, strategy: FullScan
) -> steps.Plan[Outcome | None]:
    """Read the open rows; return `None` if they or the totals by status show that other rows have changed.

    An edit to a final row changes neither, so the list stays certified through the last whole read.
    """
    conventions = yield from find_status(reading, conventions)
    listed: set[str] = set()
    for status in strategy.open_statuses:
        try:
            done = yield from read_pass(replace(conventions, saves=True), Window(status=status))
        except RequestRefused:
            return None
        yield steps.MergeRows(done.rows, done.read_at)
        listed |= done.keys
        if not done.whole:
            return None
    open_here = yield from steps.do(steps.IdsWithStatus(strategy.open_statuses))
    if not listed.issuperset(open_here) or not (yield from _totals_agree(reading, conventions, strategy)):
        return None
    return Outcome(
        True,
        cursor.through,
        "open tasks and totals by status agree; edits to final ones as of the last whole read",
    )


def _read_top(
    reading: Reading, cursor: WholeCursor, conventions: QueryConventions, strategy: FullScan
) -> steps.Plan[Outcome | None]:
    """Read from the top down to the first stored row; return `None` if that does not show every change."""
    descent = yield from _descend(conventions, "updated_at", _known_through(reading, cursor))
    # If a row was deleted, the rows below it moved up, perhaps past the next page.
    if not descent.ordered or descent.lied or has_fallen(descent.totals):
        return None
    if not (yield from _totals_agree(reading, conventions, strategy)):
        return None
    yield WholeCursor(whole_on=cursor.whole_on, through=reading.now).move()
    yield steps.Flush()
    return Outcome(True, reading.now, "newest changes and totals by status agree")


def _totals_agree(reading: Reading, conventions: QueryConventions, strategy: FullScan) -> steps.Plan[bool]:
    yield steps.Flush()
    return (yield from compare_totals(reading, conventions, strategy.statuses)).agree


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
