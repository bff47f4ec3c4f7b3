"""Read a list page by page, and judge the evidence of one pass over it.

A certificate relies on distinct ids and never on the number of rows: while a list changes, a skipped row and a
repeated row cancel each other in a count (docs/lossless.md).

The total of a first page may be wrong. If it promises many pages, the last of them is read first. Then several
pages are requested at a time, until none of them has a new row. So the requests of a pass are in proportion to the
rows that really come, and at most `MOST_PAGES`.

The memory of a pass is bounded: rows of many pages are saved while the pass goes on, and only their ids and times
stay. A pass whose rows are wanted together, as the calls of a day, ends at `MOST_TOGETHER` rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from math import isqrt

from vetl.core.errors import Failing, RequestRefused, WrongTotal
from vetl.core.pages import Certificate, Page, Row, Window, WindowKind, evidence_of, keys_of
from vetl.core.steps import MergeRows, Plan, SideBySide, do
from vetl.discovery.conventions import QueryConventions, contradiction

MOST_PAGES = 20_000
"""Most pages of one pass: two million rows at 100 rows a page."""
MOST_KEPT = 5_000
"""Rows of a pass that are in memory before they are saved."""
MOST_TOGETHER = 20_000
"""Most rows of a pass that are wanted together."""
MOST_FAILING = 3
"""Most days, or parts of a range, that a sync leaves out because the platform fails on them, perhaps on a record;
most such rows of a page, if the list has no range. If it fails on more, the list is not read on."""
UNTESTED_PAGES = 16
"""Most pages that are requested without a test of the last page."""
AT_ONCE, AT_ONCE_OF_A_LIE = 32, 8
"""Pages that are requested at a time: if the last page is as promised; and if it is not, or is refused."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The pages after the first, in order; `unkept` is the reason if there are fewer pages than promised."""

    pages: tuple[Page, ...]
    unkept: str | None = None


def read_page(conventions: QueryConventions, window: Window, number: int) -> Plan[Page]:
    """Read one page; accept it if it contradicts its own total again and again, which `Pass.lie` reports.

    If the platform fails on it, and the window has no range to be narrowed, read the other rows of the page.
    """
    lenient = conventions.page_base is None  # then the number of rows that the page should have is unknown
    try:
        page = yield from do(conventions.page(window, number, lenient=lenient))
    except WrongTotal:
        page = yield from do(conventions.page(window, number, lenient=True))
    except Failing as failing:
        if window.start is not None:
            raise
        page = yield from _page_around(conventions, window, number, failing)
    return page


def _page_around(conventions: QueryConventions, window: Window, number: int, failing: Failing) -> Plan[Page]:
    """Read a page on which the platform fails in smaller pages; raise `Failing` if it does not answer to these."""
    conventions = replace(conventions, page_base=conventions.page_base or 0, lenient=True)
    behind = (number + 1) * conventions.page_size
    with suppress(RequestRefused):
        yield replace(conventions, page_size=1).page(window, behind)  # raises if the platform answers to nothing
    unread: list[str] = []
    parts = yield from _smaller_pages(conventions, window, number, unread)
    if not parts:
        raise failing
    return replace(
        parts[-1],
        rows=tuple(row for part in parts for row in part.rows),
        per_page=None,
        total_pages=None,
        requests=sum(part.requests for part in parts),
        unread="; ".join(unread) or f"page {number}: {failing}",
    )


def _smaller_pages(
    conventions: QueryConventions, window: Window, number: int, unread: list[str]
) -> Plan[list[Page]]:
    """Read a page in smaller pages, down to the rows on which the platform fails, which are added to `unread`."""
    size = next(part for part in range(isqrt(conventions.page_size), 0, -1) if not conventions.page_size % part)
    smaller, count = replace(conventions, page_size=size), conventions.page_size // size
    pages: list[Page] = []
    failing: list[tuple[int, Failing]] = []
    for index in range(number * count, (number + 1) * count):
        try:
            pages.append((yield from do(smaller.page(window, index))))
        except RequestRefused:
            continue  # it is beyond the end
        except Failing as error:
            failing.append((index, error))
            if len(failing) + len(unread) > MOST_FAILING:
                raise
    for index, error in failing:
        if size > 1:
            pages += yield from _smaller_pages(smaller, window, index, unread)
        else:
            unread.append(f"row {index + 1}: {error}")
    return pages


def read_total(conventions: QueryConventions, window: Window) -> Plan[Page]:
    """Read the total of a window, from the page of its second row if the platform fails on the first."""
    try:
        return (yield from do(conventions.count(window)))
    except Failing:
        return (yield from do(replace(conventions, page_size=1).page(window, 1, lenient=True)))


def saved(conventions: QueryConventions, pages: Sequence[Page]) -> Plan[list[Page]]:
    """Save the rows of many pages, if the list allows it, and return the pages with what a proof needs of them."""
    if not conventions.saves or kept_rows(pages) <= MOST_KEPT:
        return list(pages)
    for page in pages:
        if not page.saved:
            yield MergeRows(page.rows, page.server_time, conventions.sealed_before)
    return [replace(page, rows=tuple(map(evidence_of, page.rows)), saved=True) for page in pages]


def kept_rows(pages: Sequence[Page]) -> int:
    """Return the number of rows that are in memory."""
    return sum(len(page.rows) for page in pages if not page.saved)


def read_promised(conventions: QueryConventions, window: Window, number: int, first: Page) -> Plan[Page]:
    """Read a page after the first; return an empty page with `refused`, and so no certificate, if it is refused.

    The list may have become shorter, and the contract shows neither the answer for a page beyond the end nor the
    number of pages that a server allows.
    """
    try:
        return (yield from read_page(conventions, window, number))
    except RequestRefused as error:
        return replace(first, rows=(), requests=1, refused=f"{error.status}")


def follow(conventions: QueryConventions, window: Window, first: Page, count: int, size: int) -> Plan[Followed]:
    """Read pages 1 to `count - 1` as long as they have new rows; `size` is the number of rows of a full page."""
    pages: list[Page] = []
    probed: dict[int, Page] = {}
    at_once = AT_ONCE
    if count > UNTESTED_PAGES:
        last = (first.total_count - 1) // size
        probed[last] = yield from read_promised(conventions, window, last, first)
        if probed[last].refused:
            at_once = AT_ONCE_OF_A_LIE
        elif _is_empty_promise(conventions, probed[last], last, size):
            conventions, at_once = replace(conventions, lenient=True), AT_ONCE_OF_A_LIE
    seen = keys_of(first.rows)
    while (number := len(pages) + 1) < min(count, MOST_PAGES):
        numbers = range(number, min(number + at_once, count, MOST_PAGES))
        unread = [index for index in numbers if index not in probed]
        read = yield from do(SideBySide([read_promised(conventions, window, index, first) for index in unread]))
        batch = [probed.pop(index) if index in probed else read.pop(0) for index in numbers]
        pages += batch
        pages = yield from saved(conventions, pages)
        if kept_rows(pages) > MOST_TOGETHER:
            return Followed(tuple(pages), f"its pages have more than {MOST_TOGETHER} rows")
        if numbers.stop == count:
            break
        keys = keys_of(row for page in batch for row in page.rows)
        if keys <= seen:
            clause = f"pages {number} to {numbers.stop - 1} bring no new row, but a total of {first.total_count}"
            refused = any(page.refused for page in batch)
            return Followed(tuple(pages), None if refused else f"{clause} promises some")
        seen |= keys
    reason = f"a total of {first.total_count} promises {count} pages, at most {MOST_PAGES} are read"
    return Followed(tuple(pages), reason if count > MOST_PAGES else None)


def _is_empty_promise(conventions: QueryConventions, page: Page, number: int, size: int) -> bool:
    """Return whether the last promised page is not as promised; pages may count from 1 if the base is unknown."""
    return not page.rows if conventions.page_base is None else contradiction(page, number, size) is not None


@dataclass(frozen=True)  # without slots, because of `cached_property`
class Pass:
    """One pass over one window, in the order of the pages; `size` is the number of rows of a full page.

    `shifted`: pages may count from 0 or from 1, so each page may also be the page before it. `unkept` is the
    reason if not all pages were read that the total promises.
    """

    window: Window
    pages: tuple[Page, ...]
    size: int
    shifted: bool = False
    unkept: str | None = None

    @property
    def started(self) -> datetime:
        """Return the source's clock at the first answer."""
        return self.pages[0].server_time

    @property
    def rows(self) -> list[Row]:
        """Return all rows that are not saved yet, with repeated rows."""
        return [row for page in self.pages if not page.saved for row in page.rows]

    @property
    def evidence(self) -> Iterator[Row]:
        """Yield every row, with repeated rows; of saved rows only ids and times."""
        return (row for page in self.pages for row in page.rows)

    @cached_property
    def keys(self) -> set[str]:
        """Return the distinct ids of the rows."""
        return keys_of(self.evidence)

    @property
    def total(self) -> int:
        """Return the total of the first page."""
        return self.pages[0].total_count

    @property
    def steady(self) -> bool:
        """Return whether every page has the same total."""
        return all(page.total_count == self.total for page in self.pages)

    @cached_property
    def lie(self) -> str | None:
        """Return the first contradiction between a page and its own total, in words. Such a total is no proof."""
        answered = ((at, page) for at, page in enumerate(self.pages) if not page.refused and not page.unread)
        contradictions = (self._contradiction(number, page) for number, page in answered)
        return self.unkept or next((words for words in contradictions if words), None)

    def _contradiction(self, number: int, page: Page) -> str | None:
        words = contradiction(page, number, self.size)
        return words and (contradiction(page, number - 1, self.size) if self.shifted and number else words)

    @property
    def refusal(self) -> str | None:
        """Return the first promised page that the server refused, or the rows that it fails to show, in words."""
        refused = ((number, page.refused) for number, page in enumerate(self.pages))
        refusal = next((f"page {number} is refused ({words})" for number, words in refused if words), None)
        return self.unread or refusal

    @property
    def unread(self) -> str | None:
        """Return the rows of the first page with rows on which the platform fails, in words."""
        return next((page.unread for page in self.pages if page.unread), None)

    @property
    def whole(self) -> bool:
        """Return whether as many distinct ids came as an unchanged total says."""
        # Rows only leave a closed window, so such a pass has skipped no row.
        return self.steady and len(self.keys) == self.total and self.lie is None and self.refusal is None

    @property
    def read_at(self) -> datetime:
        """Return the source's clock at the last answer."""
        return max(page.server_time for page in self.pages)

    @property
    def finding(self) -> str:
        """Return the evidence of this pass, in the words of a certificate."""
        if doubt := self.unread or self.lie or self.refusal:
            return doubt
        if not self.steady:
            return f"the total moved between pages ({self.total} to {self.pages[-1].total_count})"
        if not self.whole:
            return f"{len(self.keys)} distinct ids, but the total is {self.total}"
        return "one page is one snapshot" if len(self.pages) == 1 else "ids received match an unchanged total"


def certificate(done: Pass, kind: WindowKind, *, retries: int = 0, reason: str | None = None) -> Certificate:
    """Return the certificate of a pass; `reason` is other evidence, which certifies a pass that is not whole."""
    return Certificate(
        window=done.window,
        kind=kind,
        total_first=done.total,
        total_last=done.pages[-1].total_count,
        rows=sum(len(page.rows) for page in done.pages),
        distinct_ids=len(done.keys),
        requests=sum(page.requests for page in done.pages),
        retries=retries,
        certified=done.whole or reason is not None,
        reason=reason or done.finding,
        started=done.started,
        finished=done.read_at,
    )


def uncertified(evidence: Certificate, reason: str) -> Certificate:
    """Return the certificate as uncertified for this reason."""
    return replace(evidence, certified=False, reason=reason)


def remaining_pages(conventions: QueryConventions, window: Window, first: Page) -> Plan[Pass]:
    """Read the pages that the first page promises, and further pages if they have new rows."""
    size = min(conventions.page_size, first.per_page or conventions.page_size)
    if conventions.page_base is None and first.total_count > len(first.rows):
        return (yield from _pages_of_either_base(conventions, window, first, size))
    count = -(-first.total_count // size)
    if contradiction(first, 0, size):  # perhaps the server leaves out rows of a page, and its total, too
        count = max(count, first.total_pages or 1)
    followed = yield from follow(conventions, window, first, count, size)
    pages = [first, *followed.pages]
    if followed.unkept is None and len(pages[-1].rows) >= size:
        pages += yield from _beyond(conventions, window, pages)
    return Pass(window, tuple(pages), size, unkept=followed.unkept)


def _pages_of_either_base(conventions: QueryConventions, window: Window, first: Page, size: int) -> Plan[Pass]:
    """Read all pages if their base is unknown: one page more than the total promises.

    If pages count from 0, the last page is beyond the end; if they count from 1, page 1 repeats the first page.
    The distinct ids are complete in both cases.
    """
    size = max(1, min(size, len(first.rows) or size))
    count = -(-first.total_count // size)
    followed = yield from follow(conventions, window, first, count + 1, size)
    pages = list(followed.pages)
    if len(pages) == count and pages[-1].refused:
        pages[-1] = replace(pages[-1], refused=None, total_count=first.total_count)
    return Pass(window, (first, *pages), size, shifted=True, unkept=followed.unkept)


def _beyond(conventions: QueryConventions, window: Window, pages: Sequence[Page]) -> Plan[list[Page]]:
    """Read on after a full last page; there are more rows only if the total is capped or too low.

    So a list whose length is a multiple of the page size costs one request more. If the list has grown, the pass
    ends: the list might grow as fast as it is read, and its next pass begins with the new total.
    """
    seen = keys_of(row for page in pages for row in page.rows)
    more: list[Page] = []
    while len(pages) + len(more) < MOST_PAGES:
        try:
            page = yield from do(conventions.page(window, len(pages) + len(more), lenient=True))
        except RequestRefused:
            return more
        fresh = keys_of(page.rows) - seen
        if not fresh:
            return more
        seen |= fresh
        more.append(page)
        more = yield from saved(conventions, more)
        if kept_rows(more) > MOST_TOGETHER:
            return more
        if page.total_count != pages[0].total_count:
            break
    return more


def read_pass(conventions: QueryConventions, window: Window) -> Plan[Pass]:
    """Read one pass over a window: its first page, then its other pages concurrently."""
    first = yield from read_page(conventions, window, 0)
    return (yield from remaining_pages(conventions, window, first))


def united_ids(passes: Iterable[Pass]) -> set[str]:
    """Return the distinct ids of several passes over one closed window."""
    return {key for done in passes for key in done.keys}


def has_fallen(totals: Sequence[int]) -> bool:
    """Return whether a total fell: rows were deleted, so a row may have moved up past the next page."""
    return any(after < before for before, after in pairwise(totals))


def most_followed(conventions: QueryConventions, total: int) -> int:
    """Return the most pages of a list that is read page after page and may grow meanwhile."""
    return min(MOST_PAGES, 2 * (total // conventions.page_size + 1) + 1)
