"""Reading one window of a list with ids until it is proven whole, or saying why it is not.

Assumption: in a closed `updated_at` window rows only leave (a changed row gets a later `updated_at`), and one
answer is one snapshot. Rows may still come late into the last minutes of it; so of a window that needs more than
one page only the part before those is read, and the tail brings the rest. Argument: if every page tells the same
total and as many distinct ids came, no row was skipped, whatever the order. Otherwise read again; then split in
time until a window fits one page, which cannot shift; where it cannot be split, unite the ids of several passes
while every total agrees.

Requests: pages of the window, and one look beyond a full last page. At most: `RE_READS` passes more before a
split, `UNITED_PASSES` where no split is possible, in as many windows as `Purpose.may_split` says (256 and one for
every 20 rows that came); a window of one page costs one request or two and is certain at once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pipelines.core.pages import Page, Window
from pipelines.core.steps import MergeRows, MoveCursor, Plan, SideBySide, do
from pipelines.reading.conventions import QueryConventions
from pipelines.reading.coverage import Coverage
from pipelines.reading.following import tolerant
from pipelines.reading.paging import Pass, certificate, read_pass, remaining_pages, uncertified, united
from pipelines.reading.rows import updated_at

RE_READS = 2
RE_READS_OF_A_LIE = 1
UNITED_PASSES = 20
ROWS_AT_ONCE = 2_000
"""A window is split before it is read when it holds more than twice this many rows."""
MOST_PARTS = 64
WINDOWS_ALLOWED = 256
ROWS_PER_WINDOW_ALLOWED = 20
"""Windows that one purpose may be split into, and one more for so many rows that came: a server that tells the
same total for every part would otherwise be split down to the second."""
MOST_READ = 1_000_000
"""Pages of one purpose, whatever comes: a hundred million rows. The next sync goes on behind what is certified."""

STRAYS = "rows came that the range which was asked for does not hold: it is not honoured"
HIDDEN = "no end of a range is known to work, so that the newest rows may be hidden"


@dataclass(slots=True)
class Purpose:
    """What windows are read for, shared by the parts that they are split into.

    `kind` names them in `control.windows`. `sealed_before`: a changed row from before it came late.
    `covered` grows with each certified part, so that a run that ends early resumes behind it. The tail does not
    count towards the cursor, so it is neither split nor insisted upon while it keeps moving.
    `settled`: rows that were changed before this do not appear any more, not even late.
    `hidden`: rows of the window may not be shown, since no end is known to work, so it cannot be certified.
    `strays`: rows outside their window came. `doubts`: why parts are not certified.
    `met`: all ids that were read, where somebody wants to know.
    `lies`: a total was caught lying. `windows`, `pages`, `came`: how many windows and pages were read so far, and
    how many rows came.
    """

    kind: str
    sealed_before: datetime | None = None
    covered: Coverage[datetime] | None = None
    settled: datetime | None = None
    doubts: list[str] = field(default_factory=list[str])
    met: set[str] | None = None
    lies: bool = False
    windows: int = 0
    pages: int = 0
    came: int = 0
    hidden: bool = False
    strays: bool = False

    @property
    def insists(self) -> bool:
        """Whether a window that keeps moving is split, and read until it is certain."""
        return self.kind != "tail"

    @property
    def may_split(self) -> bool:
        """Whether one window more may be split: by the rows that came, not by what totals promise."""
        allowed = WINDOWS_ALLOWED + self.came // ROWS_PER_WINDOW_ALLOWED
        return not self.strays and self.windows < allowed

    def met_pages(self, pages: Sequence[Page]) -> None:
        """Count what was read."""
        self.pages += len(pages)
        self.came += sum(len(page.rows) for page in pages)

    def unsettled(self, window: Window) -> bool:
        """Whether rows may still come late into a window."""
        return self.settled is not None and isinstance(window.end, datetime) and window.end > self.settled

    def certified(self, window: Window) -> list[MoveCursor]:
        """Count a window as read whole. Returns the cursor's move, if it moves."""
        if self.covered is None or not isinstance(window.start, datetime) or not isinstance(window.end, datetime):
            return []
        self.covered = self.covered.add(window.start, window.end)
        return [MoveCursor({"covered": self.covered.as_json()})]


def read_window(conventions: QueryConventions, window: Window, purpose: Purpose) -> Plan[bool]:
    """Read one window; every row that came is saved in any case. Returns whether it is certified."""
    if purpose.pages >= MOST_READ:
        purpose.doubts.append(f"{_named(window)}: {MOST_READ} pages were read, the next sync goes on")
        return False
    conventions = replace(conventions, lenient=purpose.lies)
    first = yield from tolerant(conventions, window, 0)
    purpose.windows += 1
    purpose.met_pages([first])
    purpose.strays = purpose.strays or has_strays(conventions, window, first)
    if purpose.unsettled(window) and first.total_count > len(first.rows):
        yield MergeRows(first.rows, first.server_time, purpose.sealed_before)
        return (yield from _read_settled(conventions, window, purpose))
    if parts := _parts_by_size(conventions, window, first, purpose):
        return (yield from _side_by_side(conventions, parts, purpose))
    passes = [(yield from remaining_pages(conventions, window, first))]
    purpose.met_pages(passes[0].pages[1:])
    while not _are_proof(passes) and len(passes) <= (RE_READS_OF_A_LIE if passes[-1].lie else RE_READS):
        conventions = replace(conventions, lenient=bool(passes[-1].lie))
        passes.append((yield from read_pass(conventions, window)))
    purpose.lies = purpose.lies or bool(passes[-1].lie)
    if _are_tied(conventions, passes[-1]) and are_unmoved(passes):
        yield from _insist(conventions, window, passes)
    if not _are_proof(passes) and (purpose.insists or are_unmoved(passes)):
        if parts := _halves(conventions, window, passes[-1], purpose):
            yield from _keep(passes, purpose)
            return (yield from _side_by_side(conventions, parts, purpose))
        if not passes[-1].lie:
            yield from _insist(conventions, window, passes)
    if not (yield from _keep(passes, purpose)):
        purpose.doubts.append(f"{_named(window)}: {STRAYS if purpose.strays else passes[-1].finding}")
        return False
    yield from purpose.certified(window)
    return True


def has_strays(conventions: QueryConventions, window: Window, page: Page) -> bool:
    """Whether a page holds a row that a range which is honoured does not: so it is not, or not any more.

    Days are widened by one, and may begin in any zone.
    """
    slack = timedelta(days=3) if conventions.bounds == "day" else timedelta(minutes=1)
    times = [at for row in page.rows if (at := updated_at(row)) is not None]
    start = window.start if conventions.bounds != "none" else None
    end = window.end if conventions.reaches_now else None
    return bool(times) and (
        (isinstance(start, datetime) and min(times) < start - slack)
        or (isinstance(end, datetime) and max(times) > end + slack)
    )


def _read_settled(conventions: QueryConventions, window: Window, purpose: Purpose) -> Plan[bool]:
    """The part of a window that no row comes late into; the tail reads the rest, and the cursor waits for it."""
    settled = purpose.settled
    if settled is None or not isinstance(window.start, datetime) or window.start >= settled:
        return False
    return (yield from read_window(conventions, replace(window, end=settled), purpose))


def _halves(conventions: QueryConventions, window: Window, last: Pass, purpose: Purpose) -> list[Window]:
    """A total that lies about a single page will lie about any part of it."""
    hopeless = last.lie and len(last.pages) == 1
    return [] if hopeless or not purpose.may_split else split(conventions, window, 2)


def _named(window: Window) -> str:
    bounds = (f"{bound:%Y-%m-%d %H:%M:%SZ}" for bound in (window.start, window.end) if bound is not None)
    return " to ".join(bounds) or "the list"


def _insist(conventions: QueryConventions, window: Window, passes: list[Pass]) -> Plan[None]:
    """Pass after pass over a window that cannot be split, until one or all together prove it whole."""
    while not _are_proof(passes) and len(passes) < UNITED_PASSES:
        passes.append((yield from read_pass(conventions, window)))


def _are_proof(passes: list[Pass]) -> bool:
    return passes[-1].whole or _proven_united(passes)


def _are_tied(conventions: QueryConventions, done: Pass) -> bool:
    """Whether more rows than a page holds are of one time: they stay together, however a window is split."""
    unit = conventions.shortest.total_seconds()
    times = (at.timestamp() // unit for row in done.rows if (at := updated_at(row)) is not None)
    return max(Counter(times).values(), default=0) > done.size


def _keep(passes: list[Pass], purpose: Purpose) -> Plan[bool]:
    """Save what the passes brought, under the best certificate that they allow."""
    last = passes[-1]
    if purpose.met is not None:
        purpose.met |= united(passes)
    for earlier in passes[:-1]:
        yield MergeRows(earlier.rows, earlier.read_at, purpose.sealed_before)
    reason = None
    if not last.whole and _proven_united(passes):
        reason = f"the ids of {len(passes)} passes, united, equal an unmoved total"
    evidence = certificate(last, purpose.kind, retries=len(passes) - 1, reason=reason)
    if reason:
        evidence = replace(evidence, started=passes[0].started)
    if not evidence.certified:
        evidence = uncertified(evidence, f"{last.finding}, in {len(passes)} passes")
    elif purpose.hidden or purpose.strays:
        evidence = uncertified(evidence, STRAYS if purpose.strays else HIDDEN)
    yield MergeRows(last.rows, last.read_at, purpose.sealed_before, certificate=evidence)
    return evidence.certified


def _proven_united(passes: list[Pass]) -> bool:
    """Several passes prove a window together if no total ever moved and their ids are exactly that many."""
    return are_unmoved(passes) and len(united(passes)) == passes[0].total


def are_unmoved(passes: Sequence[Pass]) -> bool:
    """Whether no total ever moved: if a pass is not whole all the same, rows change places between its pages."""
    total = passes[0].total
    return all(done.steady and not done.lie and done.total == total for done in passes)


def _side_by_side(conventions: QueryConventions, parts: list[Window], purpose: Purpose) -> Plan[bool]:
    verdicts = yield from do(SideBySide([read_window(conventions, part, purpose) for part in parts]))
    return all(verdicts)


def _parts_by_size(conventions: QueryConventions, window: Window, first: Page, purpose: Purpose) -> list[Window]:
    if first.total_count <= 2 * ROWS_AT_ONCE or not purpose.may_split:
        return []
    return split(conventions, window, min(MOST_PARTS, -(-first.total_count // ROWS_AT_ONCE)))


def split(conventions: QueryConventions, window: Window, parts: int) -> list[Window]:
    """The window in equal parts that overlap by a second on each side, or nothing where it is too short.

    Nor where no end is known to work: each part would reach to the present.

    The overlap makes it irrelevant whether the server includes its bounds: not shown.
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
    if conventions.bounds == "day":
        step = timedelta(days=max(1, step.days))
    cuts = [start + step * number for number in range(1, parts)]
    overlap = timedelta(seconds=1) if conventions.bounds == "instant" else timedelta()
    starts = [start, *(cut - overlap for cut in cuts)]
    ends = [*(cut + overlap for cut in cuts), end]
    return [Window(begin, finish, window.status) for begin, finish in zip(starts, ends, strict=True)]
