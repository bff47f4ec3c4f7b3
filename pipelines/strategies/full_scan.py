"""Lists without a date filter and without a known order: staff tasks (contract: Staff tasks).

Each sync reads the pending tasks and the totals by status. Where a task has left pending, or a total differs
from what is here, the whole list is read; and once a day in any case, since an edit to a final task moves no
total. Where a whole read finds the list newest-updated first, later syncs read from the top until everything
is older than the last sync.

Requests of a sync without changes: the pending pages and one for each other status (or the top pages and one
for each status), whatever the length of the history. At most: these, and twice the whole list, for which see
`read_whole_list`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from pipelines.core.endpoint import FullScan
from pipelines.core.errors import RequestRefused
from pipelines.core.pages import Page, Row, Window
from pipelines.core.reading import Outcome, Reading
from pipelines.core.steps import (
    Flush,
    IdsHere,
    IdsWithStatus,
    Learnt,
    MergeRows,
    MissingRecords,
    MoveCursor,
    Plan,
    StatusCounts,
    do,
)
from pipelines.reading.certified import RE_READS_OF_A_LIE, UNITED_PASSES, are_unmoved
from pipelines.reading.conventions import QueryConventions
from pipelines.reading.following import promised, tolerant
from pipelines.reading.paging import (
    Pass,
    certificate,
    fell,
    most_followed,
    read_pass,
    uncertified,
    united,
)
from pipelines.reading.rows import instant, key_of, updated_at

WHOLE = Window()
PAGES_OF_A_MOVING_LIST = 20
NEWEST_UPDATED_FIRST = "newest_updated_first"


def plan(reading: Reading, strategy: FullScan, conventions: QueryConventions) -> Plan[Outcome]:
    """Read what may have changed; the whole list where that cannot be told, and once a day."""
    today = reading.local_now.date().isoformat()
    if reading.cursor.get("whole_on") == today and reading.since is None and reading.reconcile == "no":
        agrees = yield from _read_changes(conventions, reading, strategy)
        if agrees:
            yield MoveCursor({**reading.cursor, "through": reading.now.isoformat()})
            yield Flush()
            return Outcome(
                True, reading.now, "totals by status agree; edits to final rows as of the last whole read"
            )
    return (yield from _read_all(conventions, reading, today))


def _read_all(conventions: QueryConventions, reading: Reading, today: str) -> Plan[Outcome]:
    whole = yield from read_whole_list(conventions, sealed_before=_known_through(reading))
    if is_newest_updated_first(whole.last.rows):
        yield Learnt("order", NEWEST_UPDATED_FIRST, "updated_at never rises over a whole read, created_at does")
    elif reading.capabilities.get("order") == NEWEST_UPDATED_FIRST:
        yield Learnt("order", "unknown", "a whole read does not show it any more")
    if whole.certified:
        now = reading.now.isoformat()
        yield MoveCursor({"whole_on": today, "whole_at": now, "through": now})
    yield from mark_vanished(conventions, whole)
    return Outcome(whole.certified, reading.now if whole.certified else None, whole.reason)


def _known_through(reading: Reading) -> datetime | None:
    """Every row that was changed before this is known here; `None` before the first certified read.

    The source's clock may have been put back since.
    """
    through = reading.cursor.get("through")
    return through and min(datetime.fromisoformat(through), reading.now) - reading.margins.overlap


def mark_vanished(conventions: QueryConventions, whole: "WholeList", asked: Window = WHOLE) -> Plan[None]:
    """Rows here that a certified read of the whole list did not meet, and a second one does not meet either."""
    yield Flush()
    if not whole.certified:
        return
    here = yield from do(IdsHere())
    gone = set(here) - united(whole.passes)
    if gone:
        again = yield from read_whole_list(conventions, asked)
        gone -= united(again.passes)
        if gone and again.certified:
            yield MissingRecords(sorted(gone), again.last.read_at)
        yield Flush()


@dataclass(frozen=True, slots=True)
class WholeList:
    """What became of reading a whole list: all its passes, and what they prove together."""

    passes: Sequence[Pass]
    certified: bool
    reason: str

    @property
    def last(self) -> Pass:
        """The latest pass."""
        return self.passes[-1]


def read_whole_list(
    conventions: QueryConventions,
    asked: Window = WHOLE,
    *,
    claimed: Window = WHOLE,
    sealed_before: datetime | None = None,
) -> Plan[WholeList]:
    """Read an unsplittable list until a pass, or several united under one total, prove it whole.

    `asked` is sent; `claimed` is what the certificate says to be here.

    It costs at most as many pages as 20 passes over the list as it was at first, and one pass more: a list that
    grows while it is read makes each pass longer than the one before. Where its total moves, passes cannot be
    united, and it costs twice the list and 20 pages.
    """
    passes: list[Pass] = []
    while not passes or sum(len(done.pages) for done in passes) < _most_pages(passes):
        done = replace((yield from read_pass(conventions, asked)), window=claimed)
        passes.append(done)
        if done.whole:
            evidence = certificate(done, "whole", retries=len(passes) - 1)
            yield MergeRows(done.rows, done.read_at, sealed_before, certificate=evidence)
            return WholeList(passes, True, f"the whole list: {done.finding}")
        yield MergeRows(done.rows, done.read_at, sealed_before)
        if together := _proven_together(passes):
            reason = f"the ids of {together} passes, united, equal an unmoved total"
            evidence = replace(certificate(done, "whole", reason=reason), started=passes[-together].started)
            yield MergeRows((), done.read_at, certificate=evidence)
            return WholeList(passes, True, reason)
        if done.lie and len(passes) > RE_READS_OF_A_LIE:
            break
        conventions = replace(conventions, lenient=bool(done.lie))
    last = passes[-1]
    reason = f"{last.finding}, in {len(passes)} passes"
    evidence = uncertified(certificate(last, "whole", retries=len(passes) - 1), reason)
    yield MergeRows((), last.read_at, certificate=evidence)
    return WholeList(passes, False, reason)


def _most_pages(passes: Sequence[Pass]) -> int:
    once = len(passes[0].pages)
    return UNITED_PASSES * once if are_unmoved(passes) else 2 * once + PAGES_OF_A_MOVING_LIST


def _proven_together(passes: Sequence[Pass]) -> int:
    """How many of the latest passes, all steady under one total, hold that many distinct ids; 0 for none."""
    total = passes[-1].total
    for count in range(2, len(passes) + 1):
        latest = passes[-count:]
        if not all(done.steady and not done.lie and done.total == total for done in latest):
            return 0
        if len(united(latest)) == total:
            return count
    return 0


def _read_changes(conventions: QueryConventions, reading: Reading, strategy: FullScan) -> Plan[bool]:
    """Read what can be seen to have changed. Returns whether the totals by status then agree."""
    if reading.capabilities.get("order") == NEWEST_UPDATED_FIRST and conventions.page_base is not None:
        through = _known_through(reading)
        if not (yield from _read_top(conventions, through)):
            return False
    elif not (yield from _read_open(conventions, strategy)):
        return False
    yield Flush()
    return (yield from counts_agree(conventions, strategy.statuses)).agree


def _read_open(conventions: QueryConventions, strategy: FullScan) -> Plan[bool]:
    """Read the open rows. Returns whether every row that was open here is still among them."""
    listed: set[str] = set()
    for status in strategy.open_statuses:
        try:
            done = yield from read_pass(conventions, Window(status=status))
        except RequestRefused:
            return False
        yield MergeRows(done.rows, done.read_at)
        listed |= done.keys
        if not done.whole:
            return False
    open_here = yield from do(IdsWithStatus(strategy.open_statuses))
    return listed.issuperset(open_here)


def _read_top(conventions: QueryConventions, through: datetime | None) -> Plan[bool]:
    """Read from the top until a row is older than `through`.

    Returns whether the order held and no row was deleted: that shifts rows upwards, past the page that is next.
    """
    totals: list[int] = []
    rows: list[Row] = []
    met: set[str] = set()
    page: Page | None = None
    while not totals or len(totals) < most_followed(conventions, totals[0]):
        page = yield from (
            promised(conventions, WHOLE, len(totals), page) if page else tolerant(conventions, WHOLE, 0)
        )
        yield MergeRows(page.rows, page.server_time)
        totals.append(page.total_count)
        fresh = {key_of(row) for row in page.rows} - met
        met |= fresh
        rows += page.rows
        times = [at for row in page.rows if (at := updated_at(row)) is not None]
        if not fresh or (times and through and min(times) < through) or len(rows) >= page.total_count:
            return _never_rises(rows) and not fell(totals)
    return False


def _never_rises(rows: Sequence[Row], name: str = "updated_at") -> bool:
    """Whether a time never rises from a row to the next; rows met twice, shifted by a page, aside."""
    first_seen: dict[str, Row] = {}
    for row in rows:
        first_seen.setdefault(key_of(row), row)
    times = [instant(row.get(name)) for row in first_seen.values()]
    known = [at for at in times if at is not None]
    return len(known) == len(times) and all(above >= below for above, below in pairwise(known))


def is_newest_updated_first(rows: Sequence[Row]) -> bool:
    """Whether a whole read shows the order beyond doubt: enough rows, distinct times, never rising.

    And not the order of creation, which is the same until an older task is changed.
    """
    enough = 20
    distinct = len({updated_at(row) for row in rows}) >= enough
    return distinct and _never_rises(rows) and not _never_rises(rows, "created_at")


@dataclass(frozen=True, slots=True)
class Counts:
    """The totals by status, there and here."""

    there: Mapping[str, int]
    here: Mapping[str, int]
    requests: int

    @property
    def agree(self) -> bool:
        """Whether every status has as many rows here as there."""
        return all(self.here.get(status, 0) == count for status, count in self.there.items())

    @property
    def status_is_ignored(self) -> bool:
        """Every status tells the total of the whole list."""
        return len(self.there) > 1 and set(self.there.values()) == {sum(self.here.values())}


def counts_agree(conventions: QueryConventions, statuses: Sequence[str]) -> Plan[Counts]:
    """Compare the totals by status, read in the order given, with what is here.

    A server that refuses the status filter tells nothing: then the totals do not agree.
    """
    there: dict[str, int] = {}
    requests = 0
    for status in statuses:
        try:
            page = yield from do(conventions.count(Window(status=status)))
        except RequestRefused:
            return Counts({status: -1}, {}, requests + 1)
        there[status] = page.total_count
        requests += page.requests
    here = yield from do(StatusCounts())
    return Counts(there, here, requests)
