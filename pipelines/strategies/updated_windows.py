"""Lists filtered by `updated_at`: booking sessions and appointments (contract: Booking sessions, Appointments).

Closed windows end before the source's clock and are certified; together they cover the time line from the
start of history, and the cursor is what they cover. The tail, from the last closed bound to a day ahead, is
read and merged each time, so that a source at rest is mirrored to its last row; it never moves the cursor.

Requests of a sync without changes: one for the closed window, one for the tail, and what the open set costs.
"""

from collections.abc import Generator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pipelines.endpoint import UpdatedWindows
from pipelines.pages import Window
from pipelines.steps import Flush, IdsWithStatus, MergeRows, Step
from pipelines.strategies import coverage
from pipelines.strategies.certified import Purpose, read_window
from pipelines.strategies.dialect import Dialect, dialect_of
from pipelines.strategies.full_scan import read_whole_list
from pipelines.strategies.learning import learn_bounds, learn_paging, open_list, whole_history
from pipelines.strategies.paging import key_of, read_pass
from pipelines.strategies.reading import Outcome, Reading
from pipelines.strategies.records import get_by_id


def plan(reading: Reading, strategy: UpdatedWindows) -> Generator[Step, Any, Outcome]:
    """Read what is not covered yet, then the tail, then what may have changed without a trace."""
    dialect = yield from _learn(reading)
    if dialect.bounds == "none":
        return (yield from _without_filter(dialect, reading))
    through = dialect.closed_bound(reading.now, reading.margins.closing_lag)
    certified, covered = yield from _closed_windows(dialect, reading, through)
    tail = Window(through - reading.margins.overlap, reading.now + timedelta(days=1))
    yield from read_window(dialect, tail, Purpose("tail"))
    if strategy.derived_from is not None:
        yield from _derived_status(dialect, reading, strategy.derived_from)
    yield Flush()
    start = reading.local_midnight(reading.history_start)
    reason = "closed windows certified" if certified else "a closed window could not be read whole"
    return Outcome(certified, covered.through(start), reason)


def _learn(reading: Reading) -> Generator[Step, Any, Dialect]:
    endpoint = reading.endpoint
    known = reading.capabilities
    dialect = dialect_of(reading.names, endpoint.page_size, known)
    history = whole_history(reading)
    dialect = yield from open_list(dialect, history, known)
    dialect = yield from learn_paging(dialect, history, known)
    return (yield from learn_bounds(dialect, reading, known))


def _closed_windows(
    dialect: Dialect, reading: Reading, through: datetime
) -> Generator[Step, Any, tuple[bool, coverage.Coverage[datetime]]]:
    """Read every gap in the coverage, from a little before it: what came late is caught, and counted."""
    start = reading.local_midnight(reading.history_start)
    covered = coverage.instants(reading.cursor.get("covered", ()))
    gaps = covered.missing(start, through)
    if reading.since is not None:
        gaps.append((reading.local_midnight(reading.since), through))
    certified = True
    for gap_start, gap_end in gaps:
        sealed = any(end == gap_start for _, end in covered.spans)
        purpose = Purpose("closed", gap_start if sealed else None, covered)
        window = Window(gap_start - reading.margins.overlap, gap_end)
        certified = (yield from read_window(dialect, window, purpose)) and certified
        covered = purpose.covered or covered
    yield Flush()
    return certified, covered


def _derived_status(dialect: Dialect, reading: Reading, status: str) -> Generator[Step, Any, None]:
    """Compare every row that is in `status` here with the source's list of that status.

    A booking session expires without its `updated_at` moving (contract: Booking session). One that is gone
    from the list is got by id; so a list that moves meanwhile costs a request and never a wrong row. Where
    the list is much longer than the open set (a status filter that is ignored), each one is got by id.
    """
    yield Flush()
    open_here: list[str] = yield IdsWithStatus((status,))
    if not open_here:
        return
    window = replace(whole_history(reading), status=status)
    listed: set[str] = set()
    total = (yield dialect.count(window)).total_count
    if total <= 2 * len(open_here) + dialect.page_size:
        done = yield from read_pass(dialect, window)
        listed = {key_of(row) for row in done.rows}
        yield MergeRows(done.rows, done.read_at)
    yield from get_by_id([identity for identity in open_here if identity not in listed], reading.now)


def _without_filter(dialect: Dialect, reading: Reading) -> Generator[Step, Any, Outcome]:
    """The server ignores the date range under every name: read the list whole, each time."""
    whole = yield from read_whole_list(dialect)
    yield Flush()
    note = f"{reading.endpoint.name}: the date range is ignored by the server, the whole list is read each time"
    return Outcome(whole.certified, reading.now if whole.certified else None, whole.reason, (note,))
