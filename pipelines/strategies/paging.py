"""Reading a list page by page, and what one pass over it proves.

A certificate rests on distinct ids, never on counted rows: while a list moves, a skipped row and a repeated
one cancel each other in a count (design §8).
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from json import dumps
from typing import Any

from pipelines.errors import PracticeRefused, RequestRefused, WrongTotal
from pipelines.pages import Certificate, Page, Row, Window
from pipelines.steps import SideBySide, Step
from pipelines.strategies.dialect import Dialect, contradiction


def key_of(row: Row) -> str:
    """The id of a row; a row without one counts as itself, so that the certificate still counts it."""
    identity = row.get("id")
    return dumps(row, sort_keys=True, default=str) if identity is None else str(identity)


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over one window, in the order of the pages. `size`: the rows of a full page."""

    window: Window
    pages: tuple[Page, ...]
    size: int

    @property
    def started(self) -> datetime:
        """The source's clock at the first answer."""
        return self.pages[0].server_time

    @property
    def rows(self) -> list[Row]:
        """All rows, those met twice included."""
        return [row for page in self.pages for row in page.rows]

    @property
    def keys(self) -> set[str]:
        """The distinct ids among the rows."""
        return {key_of(row) for row in self.rows}

    @property
    def total(self) -> int:
        """What the first page said the window holds."""
        return self.pages[0].total_count

    @property
    def steady(self) -> bool:
        """Whether every page told the same total."""
        return all(page.total_count == self.total for page in self.pages)

    @property
    def lie(self) -> str | None:
        """The first page that contradicts its own total, in words: such a total proves nothing."""
        given = ((number, page) for number, page in enumerate(self.pages) if not page.refused)
        return next((words for number, page in given if (words := contradiction(page, number, self.size))), None)

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
        return "one page is one snapshot" if len(self.pages) == 1 else "distinct ids equal an unmoved total"


def certificate(done: Pass, kind: str, *, retries: int = 0, reason: str | None = None) -> Certificate:
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


def tolerant(dialect: Dialect, window: Window, number: int) -> Generator[Step, Any, Page]:
    """One page, taken as it is where it goes on contradicting its own total: `Pass.lie` tells of it."""
    try:
        return (yield dialect.page(window, number))
    except WrongTotal:
        return (yield dialect.page(window, number, lenient=True))


def promised(dialect: Dialect, window: Window, number: int, first: Page) -> Generator[Step, Any, Page]:
    """A page after the first. One that is refused is an empty one, which no certificate survives.

    The list may have shrunk meanwhile, and how a page beyond the end is answered is not shown; nor is how deep a
    server lets its lists be paged, which a window that is split stays above.
    """
    try:
        return (yield from tolerant(dialect, window, number))
    except PracticeRefused:
        raise
    except RequestRefused as error:
        return replace(first, rows=(), page=None, requests=1, refused=f"{error.status}")


def remaining_pages(dialect: Dialect, window: Window, first: Page) -> Generator[Step, Any, Pass]:
    """The pages after the first, as many as its total promises, and what lies beyond them if anything does."""
    size = min(dialect.page_size, first.per_page or dialect.page_size)
    pages = [first]
    if not contradiction(first, 0, size):
        count = -(-first.total_count // size)
        readers = [promised(dialect, window, number, first) for number in range(1, count)]
        pages += (yield SideBySide(readers)) if readers else ()
    if len(pages[-1].rows) >= size:
        pages += yield from _beyond(dialect, window, pages)
    return Pass(window, tuple(pages), size)


def _beyond(dialect: Dialect, window: Window, pages: Sequence[Page]) -> Generator[Step, Any, list[Page]]:
    """What pages after a full last one hold: nothing, unless the total is capped or too low.

    So a list whose length is a multiple of the page size costs one request more. One that has grown meanwhile is
    not followed: it might grow as fast as it is read, and its next pass begins with the new total.
    """
    seen = {key_of(row) for page in pages for row in page.rows}
    more: list[Page] = []
    while True:
        try:
            page: Page = yield dialect.page(window, len(pages) + len(more), lenient=True)
        except RequestRefused:
            return more
        fresh = {key_of(row) for row in page.rows} - seen
        if not fresh:
            return more
        seen |= fresh
        more.append(page)
        if page.total_count != pages[0].total_count:
            return more


def read_pass(dialect: Dialect, window: Window) -> Generator[Step, Any, Pass]:
    """One pass over a window: its first page, then the others side by side."""
    first = yield from tolerant(dialect, window, 0)
    return (yield from remaining_pages(dialect, window, first))


def united(passes: Iterable[Pass]) -> set[str]:
    """The distinct ids of several passes over one closed window."""
    return {key for done in passes for key in done.keys}


def fell(totals: Sequence[int]) -> bool:
    """Whether a total was lower than the one before it: rows were deleted, so others moved up, perhaps unmet."""
    return any(after < before for before, after in pairwise(totals))


def most_followed(dialect: Dialect, total: int) -> int:
    """Pages after which a list is not followed any more that is read one page at a time and may grow meanwhile."""
    return 2 * (total // dialect.page_size + 1) + 1
