"""The pages that a first page promises, without believing its total, which may be any number.

Where it promises many, the last of them is asked for first. Then so many are asked for at a time, and no more once
none of those brought a row that had not come before. So a pass costs what the rows cost that really come, and
never more than `MOST_PAGES`, whatever comes.
"""

from dataclasses import dataclass, replace

from pipelines.core.errors import RequestRefused, WrongTotal
from pipelines.core.pages import Page, Window
from pipelines.core.steps import Plan, SideBySide, do
from pipelines.reading.conventions import QueryConventions, contradiction
from pipelines.reading.rows import key_of

MOST_PAGES = 20_000
"""Pages of one pass: two million rows at 100 a page, of which each is in memory."""
FEW = 16
"""Pages that are asked for although only a total promises them."""
AT_ONCE, AT_ONCE_OF_A_LIE = 64, 8
"""Pages, where the last one is as promised; and where it is not, or is refused."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The pages after the first, in order; and why there are fewer than were promised, if so."""

    pages: tuple[Page, ...]
    unkept: str | None = None


def tolerant(conventions: QueryConventions, window: Window, number: int) -> Plan[Page]:
    """One page, taken as it is where it goes on contradicting its own total: `Pass.lie` tells of it."""
    if conventions.page_base is None:  # how many rows it should hold is not known
        return (yield from do(conventions.page(window, number, lenient=True)))
    try:
        return (yield from do(conventions.page(window, number)))
    except WrongTotal:
        return (yield from do(conventions.page(window, number, lenient=True)))


def promised(conventions: QueryConventions, window: Window, number: int, first: Page) -> Plan[Page]:
    """A page after the first. One that is refused is an empty one, which no certificate survives.

    The list may have shrunk meanwhile, and how a page beyond the end is answered is not shown; nor is how deep a
    server lets its lists be paged, which a window that is split stays above.
    """
    try:
        return (yield from tolerant(conventions, window, number))
    except RequestRefused as error:
        return replace(first, rows=(), page=None, requests=1, refused=f"{error.status}")


def follow(conventions: QueryConventions, window: Window, first: Page, count: int, size: int) -> Plan[Followed]:
    """Pages 1 to `count - 1`, as far as they hold rows. `size`: the rows of a full page."""
    pages: list[Page] = []
    probed: dict[int, Page] = {}
    at_once = AT_ONCE
    if count > FEW:
        last = (first.total_count - 1) // size
        probed[last] = yield from promised(conventions, window, last, first)
        if probed[last].refused:
            at_once = AT_ONCE_OF_A_LIE
        elif _is_empty_promise(conventions, probed[last], last, size):
            conventions, at_once = replace(conventions, lenient=True), AT_ONCE_OF_A_LIE
    seen = {key_of(row) for row in first.rows}
    while (number := len(pages) + 1) < min(count, MOST_PAGES):
        numbers = range(number, min(number + at_once, count, MOST_PAGES))
        others = yield from do(
            SideBySide([promised(conventions, window, one, first) for one in numbers if one not in probed])
        )
        brought = [probed.pop(one) if one in probed else others.pop(0) for one in numbers]
        pages += brought
        if numbers.stop == count:
            break
        keys = {key_of(row) for page in brought for row in page.rows}
        if keys <= seen:
            clause = f"pages {number} to {numbers.stop - 1} bring no new row where a total of {first.total_count}"
            refused = any(page.refused for page in brought)
            return Followed(tuple(pages), None if refused else f"{clause} promises some")
        seen |= keys
    reason = f"a total of {first.total_count} promises {count} pages, at most {MOST_PAGES} are read"
    return Followed(tuple(pages), reason if count > MOST_PAGES else None)


def _is_empty_promise(conventions: QueryConventions, page: Page, number: int, size: int) -> bool:
    """Whether the last page that is promised, or where pages count from 1 the last but one, is not as promised."""
    return not page.rows if conventions.page_base is None else contradiction(page, number, size) is not None
