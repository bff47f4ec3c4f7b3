"""Lists filtered by `updated_at`: booking sessions and appointments (contract: Booking sessions, Appointments).

Closed windows end before the source's clock and are certified; together they cover the time line from the
start of history, and the cursor is what they cover. The tail, from the last closed bound to a day ahead, is
read and merged each time, so that a source at rest is mirrored to its last row; it never moves the cursor.

Requests of a sync without changes: one for the closed window, one for the tail, and what the open set costs (the
pages of that status, one more for their total, one for each row that has left it). With changes: the pages of both
windows, and one where the closed one needs more than a page. At most: see `certified`, for each gap in what is
covered, and for the tail; a sync that ends uncertain learns anew how the list is paged, and reads it once more if
that differs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pipelines.core.capabilities import Result
from pipelines.core.endpoint import UpdatedWindows
from pipelines.core.errors import RequestRefused
from pipelines.core.pages import Window
from pipelines.core.reading import Outcome, Reading
from pipelines.core.steps import (
    Flush,
    IdsHere,
    IdsWithStatus,
    MergeRows,
    MissingRecords,
    MoveCursor,
    Plan,
    SideBySide,
    UpdatesOf,
    do,
)
from pipelines.discovery.examination import find_status
from pipelines.reading import coverage
from pipelines.reading.by_id import get_by_id, strange
from pipelines.reading.certified import Purpose, read_window
from pipelines.reading.conventions import UNPROVEN_END, QueryConventions
from pipelines.reading.paging import read_pass, united
from pipelines.reading.whole_list import WHOLE, mark_vanished, read_whole_list


def plan(reading: Reading, strategy: UpdatedWindows, conventions: QueryConventions) -> Plan[Outcome]:
    """Read what is not covered yet, then the tail, then what may have changed without a trace."""
    by_id = strategy.derived_from is not None
    if conventions.bounds == "none":
        return (yield from _without_filter(conventions, reading, by_id=by_id))
    through = conventions.closed_bound(reading.now, reading.margins.closing_lag)
    closed = yield from _closed_windows(conventions, reading, through)
    newest = _newest(conventions, closed.met)
    tail = yield from _tail(conventions, reading, through, newest)
    doubts = list(closed.doubts)
    start = reading.local_midnight(reading.history_start)
    if strategy.derived_from is not None and reading.cursor:
        doubts += yield from _derived_status(conventions, reading, strategy.derived_from)
    yield Flush()
    if closed.met is not None and not closed.doubts and (by_id or conventions.reaches_now):
        # Of a certified tail, too, rows leave only by vanishing.
        until = reading.now + timedelta(days=1) if tail else closed.covered.through(start) or start
        yield from _vanished(conventions, reading, through, until, closed.met, by_id=by_id)
    reason = "closed windows certified" if not doubts else "; ".join(doubts[:3])
    certain = closed.covered if tail else closed.certain
    suspects = (*(("start", "end") if closed.strays else ()), *(("page", "per_page") if newest.lies else ()))
    return Outcome(not doubts, certain.through(start), reason, _notes(conventions, reading), suspects)


@dataclass(frozen=True, slots=True)
class _Closed:
    """What the closed windows brought. `met`: all ids, where history was read again.

    `certain`: what of `covered` cannot have got late rows that only the tail brings. `strays`: rows came that the
    range which was asked for does not hold.
    """

    covered: coverage.Coverage[datetime]
    certain: coverage.Coverage[datetime]
    doubts: Sequence[str]
    met: set[str] | None
    strays: bool


def _closed_windows(conventions: QueryConventions, reading: Reading, through: datetime) -> Plan[_Closed]:
    """Read every gap in the coverage, from a little before it: what came late is caught, and counted.

    The source's clock may have been put back: what was covered behind it is not certain any more.
    """
    start = reading.local_midnight(reading.history_start)
    known = coverage.instants(reading.cursor.get("covered", ()))
    covered = known.until(through)
    if covered != known:
        yield MoveCursor({"covered": covered.as_json()})
    due = coverage.Coverage(tuple(covered.missing(start, through)))
    for day in (reading.since, reading.reread_from):
        if day is not None:
            due = due.add(reading.local_midnight(day), through)
    sealed = covered.through(start)
    met = set[str]() if reading.reconcile != "no" else None
    doubts: list[str] = []
    certain = covered
    strays = False
    for gap in due.spans:
        purpose = Purpose("closed", sealed, covered, through - reading.margins.overlap, doubts, met)
        covered = yield from _close(conventions, gap, reading.margins.overlap, purpose)
        certain = purpose.covered or certain
        strays = strays or purpose.strays
    yield Flush()
    return _Closed(covered, certain, doubts, met, strays)


def _close(
    conventions: QueryConventions, gap: tuple[datetime, datetime], overlap: timedelta, purpose: Purpose
) -> Plan[coverage.Coverage[datetime]]:
    """Read a gap, with whatever around it is read again. Returns what is covered then.

    What was covered before it, and may have got late rows since, is in doubt until all of the window is certain.
    """
    start, end = gap
    before, doubts = purpose.covered or coverage.Coverage(), len(purpose.doubts)
    doubted = before
    for unread, _ in before.missing(start, end):
        doubted = doubted.without(unread - overlap, unread)
    purpose.covered = doubted
    yield from read_window(conventions, Window(start - overlap, end), purpose)
    covered = before if purpose.covered == doubted else purpose.covered
    if len(purpose.doubts) == doubts and covered != covered.union(before):
        covered = covered.union(before)
        yield MoveCursor({"covered": covered.as_json()})
    return covered


def _newest(conventions: QueryConventions, met: set[str] | None) -> Purpose:
    return Purpose("tail", met=met, hidden=not conventions.reaches_now)


def _tail(conventions: QueryConventions, reading: Reading, through: datetime, purpose: Purpose) -> Plan[bool]:
    """From a little before the closed bound to a day ahead. Returns whether it happens to be certified."""
    window = Window(through - reading.margins.overlap, reading.now + timedelta(days=1))
    return (yield from read_window(conventions, window, purpose))


def _vanished(
    conventions: QueryConventions,
    reading: Reading,
    through: datetime,
    until: datetime,
    met: set[str],
    *,
    by_id: bool,
) -> Plan[None]:
    """Rows that a certified read of their time did not meet are looked for once more, then marked as deleted.

    Where the list has no get by id, the second look is a certified read of the instants at which they were last
    updated, one request for each (or of all the time again, where that is less), and of the tail, where a row that
    has changed meanwhile is now.
    """
    assert reading.reread_from is not None
    start = reading.local_midnight(reading.reread_from)
    here = yield from do(IdsHere("updated_at", start, until))
    gone = [identity for identity in here if identity not in met]
    if gone and by_id:
        yield from get_by_id(gone, reading.now)
    elif gone:
        again = Purpose("second look", met=set())
        most = len(here) // conventions.page_size
        windows = yield from _around(conventions, gone, start - reading.margins.overlap, through, most)
        verdicts = yield from do(SideBySide([read_window(conventions, window, again) for window in windows]))
        certain = all(verdicts)
        certain = (yield from _tail(conventions, reading, through, _newest(conventions, again.met))) and certain
        if certain:
            yield MissingRecords([item for item in gone if item not in (again.met or ())], reading.now)
    yield Flush()


def _around(
    conventions: QueryConventions, ids: Sequence[str], start: datetime, through: datetime, most: int
) -> Plan[list[Window]]:
    """Short windows around the last updates of these rows; one for all the time where they would be too many.

    Bounds may be exclusive, and are sent in whole seconds or days: a window reaches so much to each side.
    """
    beside = conventions.shortest
    times = yield from do(UpdatesOf(ids))
    windows: list[Window] = []
    for at in times:
        if at is None or len(windows) > most:
            return [Window(start, through)]
        last = windows[-1].end if windows else None
        if isinstance(last, datetime) and at - beside <= last:
            windows[-1] = replace(windows[-1], end=at + beside)
        else:
            windows.append(Window(at - beside, at + beside))
    return windows


def _derived_status(conventions: QueryConventions, reading: Reading, status: str) -> Plan[list[str]]:
    """Compare every row that is in `status` here with the source's list of that status.

    A booking session expires without its `updated_at` moving (contract: Booking session). One that is gone
    from the list is got by id; so a list that moves meanwhile costs a request and never a wrong row. Where
    the list is much longer than the open set (a status filter that is ignored), each one is got by id.
    A first sync has just read every row, so nothing is compared. Returns what is uncertain of it.
    """
    yield Flush()
    open_here = yield from do(IdsWithStatus((status,)))
    if not open_here:
        return []
    conventions = yield from find_status(reading, conventions)
    window = replace(reading.whole_history, status=status)
    listed: set[str] = set()
    try:
        total = (yield from do(conventions.count(window))).total_count
        if total <= 2 * len(open_here) + conventions.page_size:
            done = yield from read_pass(conventions, window)
            listed = done.keys
            yield MergeRows(done.rows, done.read_at)
    except RequestRefused:
        listed = set()  # a status filter that is refused tells as much as one that is ignored
    gone = [identity for identity in open_here if identity not in listed]
    got = yield from get_by_id(gone, reading.now)
    return [strange(reading.endpoint.name, got.strangers, len(gone))] if got.strangers else []


def _without_filter(conventions: QueryConventions, reading: Reading, *, by_id: bool) -> Plan[Outcome]:
    """The server ignores the start of a range under every name: read the list whole, each time.

    An end that works is sent all the same. Where none does, rows of the last day and a half may be hidden: nothing
    is certified through them, and a row that was not met is believed to be gone only if it is not there by its id.
    """
    through = reading.now if conventions.reaches_now else reading.now - UNPROVEN_END
    asked, claimed = Window(end=reading.now + timedelta(days=1)), Window(end=through)
    whole = yield from read_whole_list(conventions, asked, claimed=WHOLE if conventions.reaches_now else claimed)
    if conventions.reaches_now:
        yield from mark_vanished(conventions, whole, asked)
    elif by_id and reading.reconcile != "no" and whole.certified:
        yield Flush()
        here = yield from do(IdsHere())
        met = united(whole.passes)
        yield from get_by_id([identity for identity in here if identity not in met], reading.now)
    yield Flush()
    note = f"{reading.endpoint.name}: the date range is ignored by the server, the whole list is read each time"
    notes = (note, *_notes(conventions, reading))
    return Outcome(whole.certified, through if whole.certified else None, whole.reason, notes)


def _notes(conventions: QueryConventions, reading: Reading) -> tuple[str, ...]:
    if conventions.end is not Result.IGNORED:
        return ()
    told = "the end of a range is ignored by the server, so rows of the last day and a half may be hidden"
    return (
        f"{reading.endpoint.name}: {told}; they are read again at each sync, and certified when they are older",
    )
