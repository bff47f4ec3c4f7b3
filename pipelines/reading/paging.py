"""Reading a list page by page, and what one pass over it proves.

A certificate rests on distinct ids, never on counted rows: while a list moves, a skipped row and a repeated
one cancel each other in a count (design §8).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise

from pipelines.core.errors import RequestRefused
from pipelines.core.pages import Certificate, Page, Row, Window, WindowKind
from pipelines.core.steps import Plan, do
from pipelines.reading.conventions import QueryConventions, contradiction
from pipelines.reading.following import MOST_PAGES, follow, tolerant
from pipelines.reading.rows import key_of


@dataclass(frozen=True)  # without slots, for what is worked out once
class Pass:
    """One pass over one window, in the order of the pages. `size`: the rows of a full page.

    `shifted`: it is not known whether pages count from 0 or from 1, so each page may also be the one before it.
    `unkept`: why not all pages were read that the total promises.
    """

    window: Window
    pages: tuple[Page, ...]
    size: int
    shifted: bool = False
    unkept: str | None = None

    @property
    def started(self) -> datetime:
        """The source's clock at the first answer."""
        return self.pages[0].server_time

    @property
    def rows(self) -> list[Row]:
        """All rows, those met twice included."""
        return [row for page in self.pages for row in page.rows]

    @cached_property
    def keys(self) -> set[str]:
        """The distinct ids among the rows."""
        return {key_of(row) for page in self.pages for row in page.rows}

    @property
    def total(self) -> int:
        """What the first page said the window holds."""
        return self.pages[0].total_count

    @property
    def steady(self) -> bool:
        """Whether every page told the same total."""
        return all(page.total_count == self.total for page in self.pages)

    @cached_property
    def lie(self) -> str | None:
        """The first page that contradicts its own total, in words: such a total proves nothing."""
        given = ((number, page) for number, page in enumerate(self.pages) if not page.refused)
        contradictions = (self._contradiction(number, page) for number, page in given)
        return self.unkept or next((words for words in contradictions if words), None)

    def _contradiction(self, number: int, page: Page) -> str | None:
        words = contradiction(page, number, self.size)
        return words and (contradiction(page, number - 1, self.size) if self.shifted and number else words)

    @property
    def refusal(self) -> str | None:
        """The first page that an earlier one promised and the server would not give, in words."""
        refused = ((number, page.refused) for number, page in enumerate(self.pages))
        return next((f"page {number} is refused ({words})" for number, words in refused if words), None)

    @property
    def whole(self) -> bool:
        """In a window that rows only leave, an unmoved total met by as many distinct ids skips nothing."""
        return self.steady and len(self.keys) == self.total and self.lie is None and self.refusal is None

    @property
    def read_at(self) -> datetime:
        """The source's clock at the last answer."""
        return max(page.server_time for page in self.pages)

    @property
    def finding(self) -> str:
        """What this pass shows, in the words of a certificate."""
        if self.lie or self.refusal:
            return self.lie or self.refusal or ""
        if not self.steady:
            return f"the total moved between pages ({self.total} to {self.pages[-1].total_count})"
        if not self.whole:
            return f"{len(self.keys)} distinct ids where the total is {self.total}"
        return "one page is one snapshot" if len(self.pages) == 1 else "ids received match an unchanged total"


def certificate(done: Pass, kind: WindowKind, *, retries: int = 0, reason: str | None = None) -> Certificate:
    """The evidence of a pass. A reason of its own says why it counts although the pass alone does not."""
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
    """The same evidence, which is not enough."""
    return replace(evidence, certified=False, reason=reason)


def remaining_pages(conventions: QueryConventions, window: Window, first: Page) -> Plan[Pass]:
    """The pages after the first, as many as its total promises, and what lies beyond them if anything does."""
    size = min(conventions.page_size, first.per_page or conventions.page_size)
    if conventions.page_base is None and first.total_count > len(first.rows):
        return (yield from _pages_of_either_base(conventions, window, first, size))
    count = 1 if contradiction(first, 0, size) else -(-first.total_count // size)
    followed = yield from follow(conventions, window, first, count, size)
    pages = [first, *followed.pages]
    if followed.unkept is None and len(pages[-1].rows) >= size:
        pages += yield from _beyond(conventions, window, pages)
    return Pass(window, tuple(pages), size, unkept=followed.unkept)


def _pages_of_either_base(conventions: QueryConventions, window: Window, first: Page, size: int) -> Plan[Pass]:
    """All pages where it is not known whether they count from 0 or from 1: one more than the total promises.

    From 0, the last of them lies beyond the end; from 1, number 1 repeats the first page. Ids tell the rest.
    """
    size = max(1, min(size, len(first.rows) or size))
    count = -(-first.total_count // size)
    followed = yield from follow(conventions, window, first, count + 1, size)
    pages = list(followed.pages)
    if len(pages) == count and pages[-1].refused:
        pages[-1] = replace(pages[-1], refused=None, total_count=first.total_count)
    return Pass(window, (first, *pages), size, shifted=True, unkept=followed.unkept)


def _beyond(conventions: QueryConventions, window: Window, pages: Sequence[Page]) -> Plan[list[Page]]:
    """What pages after a full last one hold: nothing, unless the total is capped or too low.

    So a list whose length is a multiple of the page size costs one request more. One that has grown meanwhile is
    not followed: it might grow as fast as it is read, and its next pass begins with the new total.
    """
    seen = {key_of(row) for page in pages for row in page.rows}
    more: list[Page] = []
    while len(pages) + len(more) < MOST_PAGES:
        try:
            page = yield from do(conventions.page(window, len(pages) + len(more), lenient=True))
        except RequestRefused:
            return more
        fresh = {key_of(row) for row in page.rows} - seen
        if not fresh:
            return more
        seen |= fresh
        more.append(page)
        if page.total_count != pages[0].total_count:
            break
    return more


def read_pass(conventions: QueryConventions, window: Window) -> Plan[Pass]:
    """One pass over a window: its first page, then the others side by side."""
    first = yield from tolerant(conventions, window, 0)
    return (yield from remaining_pages(conventions, window, first))


def united(passes: Iterable[Pass]) -> set[str]:
    """The distinct ids of several passes over one closed window."""
    return {key for done in passes for key in done.keys}


def fell(totals: Sequence[int]) -> bool:
    """Whether a total was lower than the one before it: rows were deleted, so others moved up, perhaps unmet."""
    return any(after < before for before, after in pairwise(totals))


def most_followed(conventions: QueryConventions, total: int) -> int:
    """Pages after which a list is not followed any more that is read one page at a time and may grow meanwhile."""
    return min(MOST_PAGES, 2 * (total // conventions.page_size + 1) + 1)
