"""Reading one window of a list with ids until it is proven whole, or saying why it is not.

Assumption: in a closed `updated_at` window rows only leave (a changed row gets a later `updated_at`), and one
answer is one snapshot. Rows may still come late into the last minutes of it; so of a window that needs more than
one page only the part before those is read, and the tail brings the rest. Argument: if every page tells the same
total and as many distinct ids came, no row was skipped, whatever the order. Otherwise read again; then split in
time until a window fits one page, which cannot shift; where it cannot be split, unite the ids of several passes
while every total agrees.

Requests: pages of the window, and one look beyond a full last page. At most: `RE_READS` passes more before a
split, `UNITED_PASSES` where no split is possible, in as many windows as `Shared.may_split` says (256 and one for
every 20 rows that came); a window of one page costs one request or two and is certain at once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from pipelines.core.pages import Page, Window
from pipelines.core.steps import MergeRows, Plan, SideBySide, do
from pipelines.reading.conventions import QueryConventions
from pipelines.reading.coverage import Coverage
from pipelines.reading.following import tolerant
from pipelines.reading.paging import Pass, certificate, read_pass, remaining_pages, uncertified, united
from pipelines.reading.rows import updated_at
from pipelines.reading.window_read import Purpose, WindowOutcome, together

RE_READS = 2
RE_READS_OF_A_LIE = 1
UNITED_PASSES = 20
ROWS_AT_ONCE = 4_450
"""A window is split before it is read when it holds more than twice this many rows. Half a page is lost at the end
of each; a whole one where equal windows hold a little more than whole pages of 100, as windows of 4,500 would."""
MOST_PARTS = 256
MOST_READ = 1_000_000
"""Pages of one purpose, whatever comes: a hundred million rows. The next sync goes on behind what is certified."""

STRAYS = "rows from outside the requested range came back: the server does not honour the range"
HIDDEN = "no parameter for the end of a range is known to work, so the newest rows may be missing"


def read_window(conventions: QueryConventions, window: Window, purpose: Purpose) -> Plan[WindowOutcome]:
    """Read one window; every row that came is saved in any case."""
    outcome = yield from _read_window(conventions, window, purpose)
    return replace(outcome, lies=purpose.shared.lies, strays=purpose.shared.strays)


def _read_window(conventions: QueryConventions, window: Window, purpose: Purpose) -> Plan[WindowOutcome]:
    shared = purpose.shared
    if shared.pages >= MOST_READ:
        return WindowOutcome(doubts=(f"{_named(window)}: {MOST_READ} pages were read, the next sync goes on",))
    conventions = replace(conventions, lenient=shared.lies)
    first = yield from tolerant(conventions, window, 0)
    shared.windows += 1
    shared.meet([first])
    shared.strays = shared.strays or has_strays(conventions, window, first)
    if purpose.unsettled(window) and first.total_count > len(first.rows):
        yield MergeRows(first.rows, first.server_time, purpose.sealed_before)
        return (yield from _read_settled(conventions, window, purpose))
    if parts := _parts_by_size(conventions, window, first, purpose):
        return (yield from _side_by_side(conventions, parts, purpose))
    passes = [(yield from remaining_pages(conventions, window, first))]
    shared.meet(passes[0].pages[1:])
    while not _are_proof(passes) and len(passes) <= (RE_READS_OF_A_LIE if passes[-1].lie else RE_READS):
        conventions = replace(conventions, lenient=bool(passes[-1].lie))
        passes.append((yield from read_pass(conventions, window)))
    shared.lies = shared.lies or bool(passes[-1].lie)
    if not _are_proof(passes) and are_unmoved(passes) and _are_tied(conventions, passes[-1]):
        yield from _insist(conventions, window, passes)
    if not _are_proof(passes) and (purpose.insists or are_unmoved(passes)):
        if parts := _halves(conventions, window, passes[-1], purpose):
            kept = yield from _keep(passes, window, purpose)
            parts_found = yield from _side_by_side(conventions, parts, purpose)
            return replace(parts_found, ids=parts_found.ids | kept.ids)
        if not passes[-1].lie:
            yield from _insist(conventions, window, passes)
    outcome = yield from _keep(passes, window, purpose)
    if outcome.certified and purpose.on_certified is not None:
        yield purpose.on_certified(window)
    return outcome


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


def _read_settled(conventions: QueryConventions, window: Window, purpose: Purpose) -> Plan[WindowOutcome]:
    """The part of a window that no row comes late into; the tail reads the rest, and the cursor waits for it."""
    settled = purpose.settled
    if settled is None or not isinstance(window.start, datetime) or window.start >= settled:
        return WindowOutcome()
    return (yield from _read_window(conventions, replace(window, end=settled), purpose))


def _halves(conventions: QueryConventions, window: Window, last: Pass, purpose: Purpose) -> list[Window]:
    """A total that lies about a single page will lie about any part of it."""
    hopeless = last.lie and len(last.pages) == 1
    return [] if hopeless or not purpose.shared.may_split else split(conventions, window, 2)


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


def _keep(passes: list[Pass], window: Window, purpose: Purpose) -> Plan[WindowOutcome]:
    """Save what the passes brought, under the best certificate that they allow."""
    last, strays = passes[-1], purpose.shared.strays
    for earlier in passes[:-1]:
        yield MergeRows(earlier.rows, earlier.read_at, purpose.sealed_before)
    reason = None
    if not last.whole and _proven_united(passes):
        reason = f"the ids of {len(passes)} passes together match an unchanged total"
    evidence = certificate(last, purpose.kind, retries=len(passes) - 1, reason=reason)
    if reason:
        evidence = replace(evidence, started=passes[0].started)
    if not evidence.certified:
        evidence = uncertified(evidence, f"{last.finding}, in {len(passes)} passes")
    elif purpose.hidden or strays:
        evidence = uncertified(evidence, STRAYS if strays else HIDDEN)
    yield MergeRows(last.rows, last.read_at, purpose.sealed_before, certificate=evidence)
    ids = frozenset(united(passes)) if purpose.wants_ids else frozenset[str]()
    if not evidence.certified:
        return WindowOutcome(doubts=(f"{_named(window)}: {STRAYS if strays else last.finding}",), ids=ids)
    assert isinstance(window.start, datetime)
    assert isinstance(window.end, datetime)
    return WindowOutcome(Coverage(((window.start, window.end),)), ids=ids)


def _proven_united(passes: list[Pass]) -> bool:
    """Several passes prove a window together if no total ever moved and their ids are exactly that many."""
    return are_unmoved(passes) and len(united(passes)) == passes[0].total


def are_unmoved(passes: Sequence[Pass]) -> bool:
    """Whether no total ever moved: if a pass is not whole all the same, rows change places between its pages."""
    total = passes[0].total
    return all(done.steady and not done.lie and done.total == total for done in passes)


def _side_by_side(conventions: QueryConventions, parts: list[Window], purpose: Purpose) -> Plan[WindowOutcome]:
    return together((yield from do(SideBySide([_read_window(conventions, part, purpose) for part in parts]))))


def _parts_by_size(conventions: QueryConventions, window: Window, first: Page, purpose: Purpose) -> list[Window]:
    if first.total_count <= 2 * ROWS_AT_ONCE or not purpose.shared.may_split:
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
