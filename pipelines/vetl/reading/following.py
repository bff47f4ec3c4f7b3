"""Read the pages that the total of a first page promises, although the total may be wrong.

If the total promises many pages, the last of them is read first. Then several pages are requested at a time, until
none of them has a new row. So the requests of a pass are in proportion to the rows that really come, and at most
`MOST_PAGES`.

The memory of a pass is bounded: rows of many pages are saved while the pass goes on, and only their ids and times
stay. A pass whose rows are wanted together, as the calls of a day, ends at `MOST_TOGETHER` rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vetl.core.errors import RequestRefused, WrongTotal
from vetl.core.pages import Page, Window
from vetl.core.steps import MergeRows, Plan, SideBySide, do
from vetl.reading.conventions import QueryConventions, contradiction
from vetl.reading.rows import evidence_of, key_of

MOST_PAGES = 20_000
"""Most pages of one pass: two million rows at 100 rows a page."""
MOST_KEPT = 5_000
"""Rows of a pass that are in memory before they are saved."""
MOST_TOGETHER = 20_000
"""Most rows of a pass that are wanted together."""
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
    """Read one page; accept it if it contradicts its own total again and again, which `Pass.lie` reports."""
    lenient = conventions.page_base is None  # then the number of rows that the page should have is unknown
    try:
        page = yield from do(conventions.page(window, number, lenient=lenient))
    except WrongTotal:
        page = yield from do(conventions.page(window, number, lenient=True))
    return page


def saved(conventions: QueryConventions, pages: Sequence[Page]) -> Plan[list[Page]]:
    """Save the rows of many pages, if the list allows it, and return the pages with what a proof needs of them."""
    if conventions.saving is None or kept_rows(pages) <= MOST_KEPT:
        return list(pages)
    for page in pages:
        if not page.saved:
            yield MergeRows(page.rows, page.server_time, conventions.saving.sealed_before)
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
        return replace(first, rows=(), page=None, requests=1, refused=f"{error.status}")


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
    seen = {key_of(row) for row in first.rows}
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
        keys = {key_of(row) for page in batch for row in page.rows}
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
