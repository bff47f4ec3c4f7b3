"""Read lists with a filter by `updated_at`: booking sessions and appointments (see these in the contract).

Closed windows end before the source's clock and are certified; together they cover the time line from the start of
history, and this coverage is the cursor. The tail, from the end of the last closed window to a day ahead, is read
and merged in each sync, so that even the last row is stored; it never moves the cursor.

Requests of a sync without changes: one for the closed window, one for the tail, and those for the open rows (the
pages of the open status, one for their total, one for each row that has left it). With changes: the pages of both
windows, and one more if the closed window needs more than a page. At most those of `certified` for each gap in the
coverage and for the tail. A sync that ends uncertified examines the pagination again, and reads the list once more
if the result differs.

The contract shows an optional `status` of booking sessions, and not which statuses a list without it has. A server
may show some of them only. Then the list of each status is read whole in each sync, the status from which rows
leave by themselves first, so that a row which leaves it meanwhile is in a list that is read later.

Requests for that: four at the first sync, until each final status has rows, at each reconcile, and as long as rows
may be hidden; the pages around a row of each status if their totals do not add up to the list's. If rows are
hidden, or these pages prove nothing, the pages of the list and of the list of each status.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from vetl.core import steps
from vetl.core.endpoint import UpdatedWindows
from vetl.core.errors import Failing, RequestRefused
from vetl.core.list_read import Outcome, Reading, Result
from vetl.core.pages import Page, Window, WindowKind, key_of, updated_at
from vetl.discovery.conventions import SHORTEST_PART, SHOWS_LATEST, UNPROVEN_END, WITHOUT_END, QueryConventions
from vetl.discovery.discover import find_status
from vetl.reading import coverage
from vetl.reading.certified import Purpose, WindowOutcome, read_window
from vetl.reading.coverage import WindowsCursor
from vetl.reading.paging import MOST_FAILING, read_pass, read_total, united_ids
from vetl.reading.rows_by_id import get_by_id
from vetl.reading.whole_list import (
    WHOLE,
    are_filtered,
    mark_missing,
    read_by_status,
    read_whole_list,
    union_evidence,
)


def read_updated_windows(
    reading: Reading, strategy: UpdatedWindows, conventions: QueryConventions
) -> steps.Plan[Outcome]:
    """Read the gaps in the coverage, then the tail, then the rows that change without a new `updated_at`."""
    if hiding := (yield from find_hidden(conventions, reading, strategy)):
        return (yield from read_hidden(hiding, reading, strategy))
    by_id = strategy.derived_from is not None
    if conventions.bounds == "none":
        return (yield from _without_filter(conventions, reading, by_id=by_id))
    through = conventions.closed_bound(reading.now, reading.margins.closing_lag)
    closed = yield from _closed_windows(conventions, reading, through)
    try:
        tail = yield from _tail(conventions, reading, through)
    except Failing as failing:
        yield from read_total(conventions, Window(through - reading.margins.overlap, through))  # may raise
        tail = WindowOutcome(doubts=(f"the latest rows: {failing}",))
        closed = replace(closed, outcome=closed.outcome + tail)
    if hiding := (yield from _hidden_behind_others(conventions, reading, strategy)):
        return (yield from read_hidden(hiding, reading, strategy))
    doubts = list(closed.outcome.doubts)
    start = reading.local_midnight(reading.history_start)
    if strategy.derived_from is not None and reading.cursor:
        doubts += yield from _derived_status(conventions, reading, strategy.derived_from)
    yield steps.Flush()
    if reading.reconcile != "no" and closed.outcome.certified and (by_id or conventions.shows_latest):
        # A row that is missing in a certified tail has vanished, too, and a get by id proves it for any row.
        proves_tail = by_id or tail.certified
        until = reading.now + timedelta(days=1) if proves_tail else closed.covered.through(start) or start
        yield from _vanished(conventions, reading, through, until, closed.outcome.ids | tail.ids, by_id=by_id)
    reason = "closed windows certified" if not doubts else "; ".join(doubts[:3])
    certain = closed.covered if tail.certified else closed.certain
    suspects = (*(("start", "end") if closed.outcome.strays else ()), *(("page", "per_page") if tail.lies else ()))
    return Outcome(not doubts, certain.through(start), reason, _notes(conventions, reading, by_id=by_id), suspects)


@dataclass(frozen=True, slots=True)
class _Closed:
    """The result of the closed windows.

    `certain` is the part of `covered` that cannot have late rows which only the tail brings, `failing` the number
    of parts that were not read.
    """

    covered: coverage.Coverage[datetime]
    certain: coverage.Coverage[datetime]
    outcome: WindowOutcome = field(default_factory=WindowOutcome)
    failing: int = 0

    def without(self, part: tuple[datetime, datetime], why: str) -> "_Closed":
        """Return the result with a part that was not read."""
        doubt = WindowOutcome(doubts=(f"{part[0]:%Y-%m-%d} to {part[1]:%Y-%m-%d}: {why}",))
        return replace(self, outcome=self.outcome + doubt, failing=self.failing + 1)


def _closed_windows(conventions: QueryConventions, reading: Reading, through: datetime) -> steps.Plan[_Closed]:
    """Read every gap in the coverage, from a little before it, so that late rows are read and counted."""
    # The source's clock may have been put back; then the coverage behind it is not certain any more.
    start = reading.local_midnight(reading.history_start)
    stored = coverage.Coverage(WindowsCursor.model_validate(reading.cursor).covered)
    covered = stored.until(through)
    if covered != stored:
        yield WindowsCursor(covered=covered.spans).move()
    due = coverage.Coverage(tuple(covered.missing(start, through)))
    for first, last in reading.read_again:
        end = reading.local_midnight(last + timedelta(days=1)) if last else through
        due = due.add(reading.local_midnight(first), min(end, through))
    sealed = covered.through(start)
    closed = _Closed(covered, covered)
    parts = [part for gap in due.spans for part in conventions.parts(*gap)]
    while parts:
        part = parts.pop(0)
        settled, wants_ids = through - reading.margins.overlap, reading.reconcile != "no"
        purpose = Purpose(WindowKind.CLOSED, sealed, settled, wants_ids=wants_ids)
        try:
            closed = yield from _close(conventions, part, reading.margins.overlap, purpose, closed)
        except Failing as failing:
            yield from read_total(conventions, Window(through - reading.margins.overlap, through))  # may raise
            middle = (part[0] + (part[1] - part[0]) / 2).replace(microsecond=0)
            if part[1] - part[0] > SHORTEST_PART:
                parts[:0] = [(part[0], middle), (middle, part[1])]
            elif closed.failing < MOST_FAILING:
                closed = closed.without(part, f"{failing}")
            else:
                raise
        except RequestRefused as refusal:
            if conventions.most_days is None:
                raise
            closed = closed.without(part, f"{refusal}; may history_start be later?")
    yield steps.Flush()
    return closed


def _close(
    conventions: QueryConventions,
    gap: tuple[datetime, datetime],
    overlap: timedelta,
    purpose: Purpose,
    earlier: _Closed,
) -> steps.Plan[_Closed]:
    """Read a gap and the overlap before it, which may have late rows and is in doubt until both are certified."""
    start, end = gap
    before = doubted = earlier.covered
    for unread, _ in before.missing(start, end):
        doubted = doubted.without(unread - overlap, unread)
    moving = doubted

    def on_certified(part: Window) -> steps.MoveCursor:
        nonlocal moving
        assert isinstance(part.start, datetime)
        assert isinstance(part.end, datetime)
        moving = moving.add(part.start, part.end)
        return WindowsCursor(covered=moving.spans).move()

    window = Window(start - overlap, end)
    outcome = yield from read_window(conventions, window, replace(purpose, on_certified=on_certified))
    certain = doubted.union(outcome.covered)
    covered = before if certain == doubted else certain
    if outcome.certified and covered != covered.union(before):
        covered = covered.union(before)
        yield WindowsCursor(covered=covered.spans).move()
    return _Closed(covered, certain, earlier.outcome + outcome, earlier.failing)


def _tail(conventions: QueryConventions, reading: Reading, through: datetime) -> steps.Plan[WindowOutcome]:
    """Read from a little before the closed bound to a day ahead; the result may be certified or not.

    If the server refuses ends in the future, either an end that it accepts or none may show more rows of today.
    """
    outcome, wants_ids, day = WindowOutcome(), reading.reconcile != "no", timedelta(days=1)
    endless = Purpose(WindowKind.TAIL, hidden=True)
    for start, end in conventions.parts(through, reading.now + day):
        purpose = Purpose(WindowKind.TAIL, hidden=not conventions.shows_latest, wants_ids=wants_ids)
        outcome += yield from read_window(conventions, Window(start - reading.margins.overlap, end), purpose)
        endless = purpose if conventions.in_days else endless
    if conventions.latest is not None and not conventions.endless:
        other, end = replace(conventions, endless=True), reading.now + day
        if conventions.in_days:
            other, end = conventions, conventions.latest - day  # such an end is sent a day later
        purpose = Purpose(WindowKind.TAIL, hidden=True) if conventions.in_days else endless
        with suppress(RequestRefused):  # an end of the server's own is before the start
            yield from read_window(other, Window(through - reading.margins.overlap, end), purpose)
        if endless.shared.latest:
            yield steps.Learnt(WITHOUT_END, SHOWS_LATEST, "without an end a row of the same minutes came")
    return outcome


def _vanished(
    conventions: QueryConventions,
    reading: Reading,
    through: datetime,
    until: datetime,
    seen_ids: frozenset[str],
    *,
    by_id: bool,
) -> steps.Plan[None]:
    """Read rows a second time that a certified read did not return, then mark the missing ones as deleted.

    If the list has no get by id, the second read is a certified read of the same time. It includes the tail, which
    contains a row that has changed meanwhile.
    """
    assert reading.reread_from is not None
    start = reading.local_midnight(reading.reread_from)
    here = yield from steps.do(steps.IdsHere("updated_at", start, until))
    gone = [identity for identity in here if identity not in seen_ids]
    if gone and by_id:
        yield from get_by_id(reading.endpoint.name, gone, reading.now, unlisted=True)
    elif gone:
        outcome = WindowOutcome()
        for first, last in conventions.parts(start, through):
            again = Purpose(WindowKind.SECOND_LOOK, wants_ids=True)
            outcome += yield from read_window(conventions, Window(first - reading.margins.overlap, last), again)
        outcome += yield from _tail(conventions, reading, through)
        if outcome.certified:
            yield steps.MissingRecords([item for item in gone if item not in outcome.ids], reading.now)
    yield steps.Flush()


def _derived_status(conventions: QueryConventions, reading: Reading, status: str) -> steps.Plan[list[str]]:
    """Compare the stored rows in `status` with the source's list of that status; return lines about doubts.

    A booking session expires while its `updated_at` stays (contract: Booking session). A session that is missing
    in the list is got by id, so a list that changes meanwhile costs a request and never a wrong row. If the list
    is much longer than the open set, the status filter is ignored, and each session is got by id. The first sync
    has just read every row and compares nothing.
    """
    yield steps.Flush()
    open_here = yield from steps.do(steps.IdsWithStatus((status,)))
    if not open_here:
        return []
    listed: set[str] = set()
    with suppress(RequestRefused, Failing):  # such a status filter is as useless as an ignored one
        conventions = yield from find_status(reading, conventions)
        window = replace(conventions.widest(reading), status=status)
        total = (yield from steps.do(conventions.count(window))).total_count
        if total <= 2 * len(open_here) + conventions.page_size:
            done = yield from read_pass(replace(conventions, saves=True), window)
            listed = done.keys
            yield steps.MergeRows(done.rows, done.read_at)
    gone = [identity for identity in open_here if identity not in listed]
    return (yield from get_by_id(reading.endpoint.name, gone, reading.now))


def _without_filter(conventions: QueryConventions, reading: Reading, *, by_id: bool) -> steps.Plan[Outcome]:
    """Read the list whole in each sync, because the server ignores the start of a range under every name.

    An end is sent if it works. If no end works, the answers may lack rows of the last day and a half. Then the
    list is certified only up to these rows, and a row counts as vanished only if it cannot be got by its id.
    Without a start that works they may lack rows from before the oldest one, too, so none of these has vanished.
    """
    through = reading.now if conventions.shows_latest else reading.now - UNPROVEN_END
    requested, claimed = Window(end=reading.now + timedelta(days=1)), Window(end=through)
    whole = yield from read_whole_list(
        conventions, requested, claimed=WHOLE if conventions.shows_latest else claimed
    )
    oldest = min((at for row in whole.last.evidence if (at := updated_at(row))), default=None)
    if conventions.shows_latest and oldest:
        among = steps.IdsHere("updated_at", oldest, reading.now + timedelta(days=1))
        yield from mark_missing(whole, lambda: read_whole_list(conventions, requested), among)
    if by_id and reading.reconcile != "no" and whole.certified:
        yield steps.Flush()
        here = yield from steps.do(steps.IdsHere())
        seen_ids = united_ids(whole.passes)
        gone = [identity for identity in here if identity not in seen_ids]
        yield from get_by_id(reading.endpoint.name, gone, reading.now, unlisted=True)
    yield steps.Flush()
    ignored = "the date range is ignored by the server, the whole list is read each time"
    hidden = f"older rows than its oldest, of {oldest:%Y-%m-%d}, may be hidden" if oldest else "it has no row"
    note = f"{reading.endpoint.name}: {ignored}; {hidden}"
    notes = (note, *_notes(conventions, reading, by_id=by_id))
    return Outcome(whole.certified, through if whole.certified else None, whole.reason, notes)


def _notes(conventions: QueryConventions, reading: Reading, *, by_id: bool) -> tuple[str, ...]:
    if conventions.end is not Result.IGNORED:
        if conventions.latest is None or conventions.endless or by_id:
            return ()
        refused = "an end in the future is refused, so a row that changes during a read looks like a deleted one"
        return (f"{reading.endpoint.name}: {refused}; deletions are not marked",)
    hidden = "the end of a range is ignored by the server, so rows of the last day and a half may be hidden"
    note = (
        f"{reading.endpoint.name}: {hidden}; they are read again at each sync, and certified when they are older"
    )
    return (note if by_id else f"{note}. A deletion looks the same and is not marked",)


CAPABILITY, HIDES, SHOWS, UNPROVEN = "without_status", "hides rows", "all rows", "may hide rows"
"""What the warehouse knows of the list without a status, and the answers. Only `SHOWS` is a proof."""

ANY_STATUS = ""
"""The key of the page of the list without a status."""


def statuses_of(strategy: UpdatedWindows) -> tuple[str, ...]:
    """Return the statuses of the list, the one from which rows leave by themselves first."""
    return (strategy.derived_from, *strategy.final) if strategy.derived_from else ()


def _hidden_behind_others(
    conventions: QueryConventions, reading: Reading, strategy: UpdatedWindows
) -> steps.Plan[QueryConventions | None]:
    """Return the same as `find_hidden`, if rows of a status beyond the contract may make up for hidden ones."""
    if not strategy.final or (reading.capabilities.get(CAPABILITY) == SHOWS and reading.reconcile == "no"):
        return None
    yield steps.Flush()
    here = yield from steps.do(steps.StatusCounts())
    if here.keys() <= set(statuses_of(strategy)):
        return None
    return (yield from find_hidden(conventions, reading, strategy, adds_up=False))


def find_hidden(
    conventions: QueryConventions, reading: Reading, strategy: UpdatedWindows, *, adds_up: bool = True
) -> steps.Plan[QueryConventions | None]:
    """Return conventions with the name of the status filter if the list hides rows without it, else `None`.

    `adds_up`: the totals by status are a proof if their sum is that of the list.
    """
    known = reading.capabilities.get(CAPABILITY)
    is_known = known == SHOWS and reading.reconcile == "no"
    if not strategy.final or is_known or conventions.status is Result.IGNORED:
        return None
    verdict: str | None = None
    pages: dict[str, Page] | None = None
    with suppress(RequestRefused):
        pages = yield from _count_by_status(conventions, reading, strategy)
        if pages is None:  # the filter may have another name
            conventions = yield from find_status(reading, conventions)
            pages = yield from _count_by_status(conventions, reading, strategy)
        if pages is not None:
            verdict = yield from _verdict(conventions, pages, strategy, adds_up=adds_up)
    if verdict is not None and verdict != known:
        totals = (f"{page.total_count} {status or 'without one'}" for status, page in (pages or {}).items())
        yield steps.Learnt(CAPABILITY, verdict, f"the totals by status are {', '.join(totals)}")
    return conventions if (verdict or known) in (HIDES, UNPROVEN) else None


def _count_by_status(
    conventions: QueryConventions, reading: Reading, strategy: UpdatedWindows
) -> steps.Plan[dict[str, Page] | None]:
    """Return a smallest page of each status and of the whole list; `None` if the filter has no effect."""
    pages: dict[str, Page] = {}
    for status in reversed(statuses_of(strategy)):  # so that a row that changes its status counts once
        pages[status] = yield from read_total(conventions, replace(conventions.widest(reading), status=status))
    whole = yield from read_total(conventions, conventions.widest(reading))
    alike = whole.total_count and {page.total_count for page in pages.values()} == {whole.total_count}
    if alike and not are_filtered(pages):
        return None
    return {**pages, ANY_STATUS: whole}


def _verdict(
    conventions: QueryConventions, pages: Mapping[str, Page], strategy: UpdatedWindows, *, adds_up: bool
) -> steps.Plan[str | None]:
    """Return whether the whole list hides rows; `None` if it is not known, because a status has no row yet."""
    by_status = [page for status, page in pages.items() if status != ANY_STATUS]
    if adds_up and sum(page.total_count for page in by_status) == pages[ANY_STATUS].total_count:
        return SHOWS if all(pages[status].total_count for status in strategy.final) else None
    readers = [_is_shown(conventions, page) for page in by_status if page.total_count]
    are_shown = yield from steps.do(steps.SideBySide(readers))
    if False in are_shown:
        return HIDES
    return SHOWS if all(are_shown) else UNPROVEN


def _is_shown(conventions: QueryConventions, page: Page) -> steps.Plan[bool | None]:
    """Return whether the first row of a page is in the list without a status; `None` if no read proves either."""
    at = updated_at(page.rows[0]) if page.rows else None
    if at is None:
        return None
    around = yield from read_pass(conventions, Window(at - conventions.shortest, at + conventions.shortest))
    if key_of(page.rows[0]) in around.keys:
        return True
    return False if around.whole else None


def read_hidden(conventions: QueryConventions, reading: Reading, strategy: UpdatedWindows) -> steps.Plan[Outcome]:
    """Read the list of each status. The coverage by windows starts again if the server stops hiding rows."""
    through = reading.now if conventions.shows_latest else reading.now - UNPROVEN_END
    if reading.cursor:
        yield WindowsCursor(covered=()).move()
    requested, claimed = reading.whole_history, replace(reading.whole_history, end=through)
    whole = yield from read_by_status(conventions, statuses_of(strategy), requested, claimed=claimed)
    evidence = union_evidence(whole, claimed)
    yield steps.MergeRows((), whole.last.read_at, certificate=evidence)
    yield steps.Flush()
    if whole.certified and reading.reconcile != "no":
        seen = united_ids(whole.passes)
        here = yield from steps.do(steps.IdsHere())
        gone = [identity for identity in here if identity not in seen]
        yield from get_by_id(reading.endpoint.name, gone, reading.now, unlisted=True)
        yield steps.Flush()
    return Outcome(whole.certified, through if whole.certified else None, whole.reason)
