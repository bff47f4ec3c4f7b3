"""Read lists without a date filter, most recent first: AI outbound requests (contract: AI outbound requests).

Assumption: `created_at` never rises from row to row, and new rows appear at the top. While pages are read from the
top, a new row shifts rows only towards pages that are still to be read, so rows are repeated but never skipped. A
deleted row shifts rows upwards, and the total falls: then the list is read again. Rows with a final status do not
change, so the read ends at the time of the last sync, but at least seven days back (the platform's sweeper ends
every request after 96 hours). Open requests below that are got by id. If the order does not hold, the list is read
whole.

Proof: the totals of the six statuses equal the stored rows. They are read in the order of the life cycle, so that
a request that changes its status meanwhile is counted twice and never missed.

Requests of a sync without changes: the pages of the last seven days, one for each status, one for each older open
request. At most three times that, each time with at most twice the pages of the list, and the whole list twice
(`read_whole_list`).
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from vetl.core.endpoint import NewestFirst
from vetl.core.list_read import Outcome, Reading
from vetl.core.pages import Certificate, Page, Row, Window, WindowKind
from vetl.core.steps import Flush, IdsHere, IdsWithStatus, MergeRows, Plan, do
from vetl.reading.by_id import get_by_id
from vetl.reading.conventions import QueryConventions, contradiction
from vetl.reading.following import read_page, read_promised
from vetl.reading.paging import has_fallen, most_followed
from vetl.reading.rows import instant, key_of
from vetl.reading.whole_list import WHOLE, read_whole_list
from vetl.strategies.cursors import TopCursor
from vetl.strategies.totals import Counts, compare_totals, complete

LOOK_BACK = timedelta(days=7)
MARGIN = timedelta(hours=1)
ATTEMPTS = 3


def read(reading: Reading, strategy: NewestFirst, conventions: QueryConventions) -> Plan[Outcome]:
    """Read from the top down to stored rows and prove the result by the totals, or else read the list whole."""
    # If the base of the page numbers is unknown, a page may be the page before it, so its order proves nothing.
    for _ in range(ATTEMPTS if conventions.page_base is not None else 0):
        descent = yield from _descend(conventions, _horizon(reading))
        if not descent.ordered:
            break
        if has_fallen(descent.totals):
            continue
        yield from _get_unread(strategy, descent, reading)
        counts = yield from compare_totals(reading, conventions, strategy.statuses)
        if counts.agree or (counts.status_is_ignored and sum(counts.here.values()) == descent.total):
            yield MergeRows((), reading.now, certificate=_evidence(descent, counts, reading))
            yield TopCursor(through=reading.now).move()
            yield Flush()
            return Outcome(True, reading.now, "totals by status agree")
        if descent.lied:
            break
    return (yield from _read_all(conventions, reading, strategy))


def _horizon(reading: Reading) -> datetime | None:
    """Return the time of creation below which the read may end, or `None` if it must reach the end of the list."""
    through = TopCursor.model_validate(reading.cursor).through
    if through is None:
        return None
    horizon = min(reading.now - LOOK_BACK, through - MARGIN)
    for day in (reading.since, reading.reread_from):
        if day is not None:
            horizon = min(horizon, reading.local_midnight(day))
    return None if reading.reconcile == "full" else horizon


@dataclass(slots=True)
class _Descent:
    """The state of a read from the top; `lied`: the last page does not have the rows that its total promises."""

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
        created_at = instant(row.get("created_at"))
        if key_of(row) in self.seen:
            return
        self.seen.add(key_of(row))
        if created_at is None or (self.lowest is not None and created_at > self.lowest):
            self.ordered = False
        self.lowest = created_at or self.lowest


def _descend(conventions: QueryConventions, horizon: datetime | None) -> Plan[_Descent]:
    """Read pages from the top, one after another, because a shift could hide a row between concurrent reads.

    A list that grows almost as fast as it is read counts as unordered.
    """
    descent = _Descent()
    page: Page | None = None
    while True:
        page = yield from (
            read_promised(conventions, WHOLE, descent.pages, page) if page else read_page(conventions, WHOLE, 0)
        )
        descent.meet(page, conventions.page_size)
        yield MergeRows(page.rows, page.server_time)
        below = horizon is not None and descent.lowest is not None and descent.lowest < horizon
        if not descent.ordered or descent.lied or not page.rows or below or descent.rows >= page.total_count:
            return descent
        descent.ordered = descent.pages < most_followed(conventions, descent.total)


def _get_unread(strategy: NewestFirst, descent: _Descent, reading: Reading) -> Plan[None]:
    """Get rows that the descent did not read: open requests, and in a reconcile those that it should have read."""
    yield Flush()
    ids = yield from do(IdsWithStatus(strategy.open_statuses))
    if reading.reconcile == "full":
        ids += yield from do(IdsHere())
    elif reading.reconcile == "recent" and descent.lowest is not None:
        # Rows of one instant may be on both sides of the descent's end.
        ids += yield from do(IdsHere("created_at", descent.lowest + timedelta(seconds=1), None))
    yield from get_by_id(
        [identity for identity in dict.fromkeys(ids) if identity not in descent.seen], reading.now
    )
    yield Flush()


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


def _read_all(conventions: QueryConventions, reading: Reading, strategy: NewestFirst) -> Plan[Outcome]:
    whole = yield from read_whole_list(conventions)
    whole = yield from complete(reading, conventions, strategy.statuses, whole)
    if whole.certified:
        yield TopCursor(through=reading.now).move()
    yield Flush()
    return Outcome(whole.certified, reading.now if whole.certified else None, whole.reason)
