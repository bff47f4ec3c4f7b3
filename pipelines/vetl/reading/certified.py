"""Read one window of a list with ids until it is proven whole, or return the reason why it is not.

Assumptions: rows only leave a closed `updated_at` window, because a changed row gets a later `updated_at`; and one
answer is one snapshot. Rows may still come late into the last minutes of a window. So if a window needs more than
one page, only the part before these minutes is read, and the tail brings the rest.

Proof: if every page has the same total and as many distinct ids came, no row was skipped in any order. Otherwise
the window is read again; then it is split in time until each part fits one page, which cannot shift. If it cannot
be split, the ids of several passes are united while all totals agree.

Requests: the pages of the window, and one more if the last page is full. At most `RE_READS` further passes before
a split, or `UNITED_PASSES` passes if no split is possible, in at most 256 windows and one more for every 20 rows
that came (`Shared.may_split`). A window of one page costs one or two requests and is certain at once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import reduce
from operator import add

from vetl.core.pages import Page, Window, WindowKind, updated_at
from vetl.core.steps import MergeRows, MoveCursor, Plan, SideBySide, do
from vetl.discovery.conventions import QueryConventions, has_strays, shows_latest
from vetl.reading import paging
from vetl.reading.coverage import Coverage

WINDOWS_ALLOWED = 256
ROWS_PER_WINDOW_ALLOWED = 20
"""Windows into which one purpose may be split: 256, and one more for every 20 rows that came. If a server answers
the same total for every part, the split would otherwise go down to the second."""
NOTHING: Coverage[datetime] = Coverage()
OnCertified = Callable[[Window], MoveCursor]


@dataclass(frozen=True, slots=True)
class WindowOutcome:
    """The result of the read of a window.

    `covered` are its certified parts, `doubts` the reasons why other parts are not certified, and `ids` all ids
    that came, if the purpose wants them. `lies`: a total was wrong. `strays`: rows from outside the range came.
    """

    covered: Coverage[datetime] = NOTHING
    doubts: tuple[str, ...] = ()
    ids: frozenset[str] = frozenset()
    lies: bool = False
    strays: bool = False

    @property
    def certified(self) -> bool:
        """Return whether no part is in doubt."""
        return not self.doubts

    def __add__(self, other: "WindowOutcome") -> "WindowOutcome":
        return WindowOutcome(
            self.covered.union(other.covered),
            self.doubts + other.doubts,
            self.ids | other.ids,
            self.lies or other.lies,
            self.strays or other.strays,
        )


@dataclass(slots=True)
class Shared:
    """The observations that the parts of a window share while they are read concurrently.

    `windows`, `pages` and `came` count the windows, pages and rows so far. `latest`: a row of this moment came.
    """

    lies: bool = False
    strays: bool = False
    latest: bool = False
    windows: int = 0
    pages: int = 0
    came: int = 0

    @property
    def may_split(self) -> bool:
        """Return whether one more window may be split, by the number of rows that really came."""
        allowed = WINDOWS_ALLOWED + self.came // ROWS_PER_WINDOW_ALLOWED
        return not self.strays and self.windows < allowed

    def meet(self, pages: Sequence[Page]) -> None:
        """Count pages that were read and their rows."""
        self.pages += len(pages)
        self.came += sum(len(page.rows) for page in pages)
        self.latest = self.latest or any(map(shows_latest, pages[-1:]))  # sorted lists have it there


@dataclass(frozen=True, slots=True)
class Purpose:
    """The purpose of the read of a window, which all of its parts share.

    `kind` is the kind in `control.windows`. A changed row from before `sealed_before` came late. No row with a
    change before `settled` can still appear. `on_certified` moves the cursor behind each certified part, so that
    the next run resumes there if this run ends early. `hidden`: the answers may lack rows of the window, because
    no end in the future is known to work, so that the window cannot be certified. `wants_ids`: the outcome
    contains all ids that came.
    """

    kind: WindowKind
    sealed_before: datetime | None = None
    settled: datetime | None = None
    on_certified: OnCertified | None = None
    hidden: bool = False
    wants_ids: bool = False
    shared: Shared = field(default_factory=Shared)

    @property
    def insists(self) -> bool:
        """Return whether a window that keeps changing is split and read until it is certain."""
        # The tail moves no cursor, and the next sync reads it again.
        return self.kind is not WindowKind.TAIL

    def unsettled(self, window: Window) -> bool:
        """Return whether rows may still come late into a window."""
        return self.settled is not None and isinstance(window.end, datetime) and window.end > self.settled


def combined(outcomes: Iterable[WindowOutcome]) -> WindowOutcome:
    """Return the outcome of several windows."""
    return reduce(add, outcomes, WindowOutcome())


RE_READS = 2
RE_READS_OF_A_LIE = 1
UNITED_PASSES = 20
ROWS_AT_ONCE = 4_450
"""A window with more than twice this many rows is split before it is read. Half a page is lost at the end of each
part. A whole page is lost if equal parts have a few rows more than full pages of 100, as parts of 4,500 would."""
MOST_PARTS = 256
MOST_READ = 1_000_000
"""Most pages of one purpose: a hundred million rows. The next sync continues behind the certified parts."""

STRAYS = "rows from outside the requested range came back: the server does not honour the range"
HIDDEN = "no parameter for the end of a range is known to work, so the newest rows may be missing"


def read_window(conventions: QueryConventions, window: Window, purpose: Purpose) -> Plan[WindowOutcome]:
    """Read one window; save every row that came in any case."""
    conventions = replace(conventions, saves=True, sealed_before=purpose.sealed_before)
    outcome = yield from _read_window(conventions, window, purpose)
    return replace(outcome, lies=purpose.shared.lies, strays=purpose.shared.strays)


def _read_window(conventions: QueryConventions, window: Window, purpose: Purpose) -> Plan[WindowOutcome]:
    shared = purpose.shared
    if shared.pages >= MOST_READ:
        return WindowOutcome(doubts=(f"{_named(window)}: {MOST_READ} pages were read, the next sync goes on",))
    conventions = replace(conventions, lenient=shared.lies)
    first = yield from _probe(conventions, window, shared)
    if purpose.unsettled(window) and first.total_count > len(first.rows):
        yield from paging.saved(conventions, [first])
        return (yield from _read_settled(conventions, window, purpose))
    if parts := _parts_by_size(conventions, window, first, purpose):
        return (yield from _side_by_side(conventions, parts, purpose))
    passes = yield from _prove(conventions, window, first, shared)
    parts: list[Window] = []
    if not _are_proof(passes) and (purpose.insists or are_unmoved(passes)):
        parts = _halves(conventions, window, passes[-1], purpose)
        if not parts and not passes[-1].lie:
            yield from _insist(conventions, window, passes)
    outcome = yield from _keep(passes, window, purpose)
    if parts:
        halves = yield from _side_by_side(conventions, parts, purpose)
        return replace(halves, ids=halves.ids | outcome.ids)
    if outcome.certified and purpose.on_certified is not None:
        yield purpose.on_certified(window)
    return outcome


def _probe(conventions: QueryConventions, window: Window, shared: Shared) -> Plan[Page]:
    """Read the first page of a window, and note whether it has rows from outside the window."""
    first = yield from paging.read_page(conventions, window, 0)
    shared.windows += 1
    shared.meet([first])
    shared.strays = shared.strays or has_strays(conventions, window, first)
    return first


def _prove(conventions: QueryConventions, window: Window, first: Page, shared: Shared) -> Plan[list[paging.Pass]]:
    """Read passes over a window, from its first page on, until they prove it whole or no pass is left."""
    passes = [(yield from paging.remaining_pages(conventions, window, first))]
    shared.meet(passes[0].pages[1:])
    while not _are_proof(passes) and len(passes) <= (RE_READS_OF_A_LIE if passes[-1].lie else RE_READS):
        again = replace(conventions, lenient=bool(passes[-1].lie))
        passes.append((yield from paging.read_pass(again, window)))
    shared.lies = shared.lies or bool(passes[-1].lie)
    if not _are_proof(passes) and are_unmoved(passes) and _are_tied(conventions, passes[-1]):
        yield from _insist(conventions, window, passes)
    return passes


def _read_settled(conventions: QueryConventions, window: Window, purpose: Purpose) -> Plan[WindowOutcome]:
    """Read the part of a window into which no row comes late; the cursor stays before the rest."""
    settled = purpose.settled
    if settled is None or not isinstance(window.start, datetime) or window.start >= settled:
        return WindowOutcome()
    return (yield from _read_window(conventions, replace(window, end=settled), purpose))


def _halves(conventions: QueryConventions, window: Window, last: paging.Pass, purpose: Purpose) -> list[Window]:
    """Return the two halves of a window, or nothing if it must not be split."""
    # A wrong total of a single page is wrong in each part of it.
    hopeless = last.lie and len(last.pages) == 1
    return [] if hopeless or not purpose.shared.may_split else split(conventions, window, 2)


def _named(window: Window) -> str:
    bounds = (f"{bound:%Y-%m-%d %H:%M:%SZ}" for bound in (window.start, window.end) if bound is not None)
    return " to ".join(bounds) or "the list"


def _insist(conventions: QueryConventions, window: Window, passes: list[paging.Pass]) -> Plan[None]:
    """Read passes over a window that cannot be split, until one pass or all of them together prove it whole."""
    while not _are_proof(passes) and len(passes) < UNITED_PASSES:
        passes.append((yield from paging.read_pass(conventions, window)))


def _are_proof(passes: list[paging.Pass]) -> bool:
    return passes[-1].whole or _proven_united(passes)


def _are_tied(conventions: QueryConventions, done: paging.Pass) -> bool:
    """Return whether more rows than a page holds have the same time, so that no split separates them."""
    unit = conventions.shortest.total_seconds()
    times = (at.timestamp() // unit for row in done.evidence if (at := updated_at(row)) is not None)
    return max(Counter(times).values(), default=0) > done.size


def _keep(passes: list[paging.Pass], window: Window, purpose: Purpose) -> Plan[WindowOutcome]:
    """Save the rows of all passes with the best certificate that they allow."""
    last, strays = passes[-1], purpose.shared.strays
    for earlier in passes[:-1]:
        yield MergeRows(earlier.rows, earlier.read_at, purpose.sealed_before)
    reason = None
    if not last.whole and _proven_united(passes):
        reason = f"the ids of {len(passes)} passes together match an unchanged total"
    evidence = paging.certificate(last, purpose.kind, retries=len(passes) - 1, reason=reason)
    if reason:
        evidence = replace(evidence, started=passes[0].started)
    if not evidence.certified:
        evidence = paging.uncertified(evidence, f"{last.finding}, in {len(passes)} passes")
    elif purpose.hidden or strays:
        evidence = paging.uncertified(evidence, STRAYS if strays else HIDDEN)
    yield MergeRows(last.rows, last.read_at, purpose.sealed_before, certificate=evidence)
    ids = frozenset(paging.united_ids(passes)) if purpose.wants_ids else frozenset[str]()
    if not evidence.certified:
        return WindowOutcome(doubts=(f"{_named(window)}: {STRAYS if strays else last.finding}",), ids=ids)
    assert isinstance(window.start, datetime)
    assert isinstance(window.end, datetime)
    return WindowOutcome(Coverage(((window.start, window.end),)), ids=ids)


def _proven_united(passes: list[paging.Pass]) -> bool:
    """Return whether the distinct ids of all passes match a total that never changed."""
    return are_unmoved(passes) and len(paging.united_ids(passes)) == passes[0].total


def are_unmoved(passes: Sequence[paging.Pass]) -> bool:
    """Return whether no total changed; if a pass is not whole all the same, rows change places between pages."""
    total = passes[0].total
    return all(done.steady and not done.lie and done.total == total for done in passes)


def _side_by_side(conventions: QueryConventions, parts: list[Window], purpose: Purpose) -> Plan[WindowOutcome]:
    return combined((yield from do(SideBySide([_read_window(conventions, part, purpose) for part in parts]))))


def _parts_by_size(conventions: QueryConventions, window: Window, first: Page, purpose: Purpose) -> list[Window]:
    if first.total_count <= 2 * ROWS_AT_ONCE or not purpose.shared.may_split:
        return []
    return split(conventions, window, min(MOST_PARTS, -(-first.total_count // ROWS_AT_ONCE)))


def split(conventions: QueryConventions, window: Window, parts: int) -> list[Window]:
    """Return a window in equal parts that overlap by a second on each side, or nothing if it is too short.

    The contract does not show whether the server includes the bounds; the overlap makes this irrelevant. Without
    an end that is known to work, there are no parts, because each part would reach to the present.
    """
    start, end = window.start, window.end
    narrows = conventions.bounds != "none" and conventions.reaches_now
    if not narrows or not isinstance(start, datetime) or not isinstance(end, datetime):
        return []
    unit = conventions.shortest
    parts = min(parts, int((end - start) / (2 * unit)))
    if parts < 2:  # noqa: PLR2004 - one part is no split
        return []
    step = timedelta(seconds=int((end - start).total_seconds() / parts))
    if conventions.in_days:
        step = timedelta(days=max(1, step.days))
    cuts = [start + step * number for number in range(1, parts)]
    overlap = timedelta(seconds=1) if conventions.bounds == "instant" else timedelta()
    starts = [start, *(cut - overlap for cut in cuts)]
    ends = [*(cut + overlap for cut in cuts), end]
    return [Window(begin, finish, window.status) for begin, finish in zip(starts, ends, strict=True)]
