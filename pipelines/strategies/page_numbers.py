"""Which parameter turns the page, and whether the first page is 0 or 1 (contract: Endpoints, "not shown").

Two pages prove a parameter where they have no row in common. Where a list moves between two requests, pages that
are not told apart differ too, so the first page is looked at again behind the second.
Pages from 1 are believed where pages 1 and 2 are told apart and pages 0 and 1 are not, both seen twice.

Where the same page holds other rows when it is asked for again, what pages hold proves nothing. How many rows the
last ones hold still does: under a total that stands still, the page after the last is empty.
"""

from collections.abc import Callable, Generator, Iterable
from typing import Any

from pipelines.errors import RequestRefused, Unreachable
from pipelines.pages import Page
from pipelines.steps import Step
from pipelines.strategies.paging import key_of

LOOKS = 4
"""Times that a moving list is looked at, until it holds still for long enough."""

Ask = Callable[[str, int], Generator[Step, Any, Page | None]]
"""Asks for the page with this number, under this name; nothing where it is refused."""
Keys = frozenset[str]


def find_pages(names: Iterable[str], ask: Ask) -> Generator[Step, Any, tuple[str, int] | None]:
    """The first of the names that turns pages, and the number of the first page; `None` where none does.

    The list must hold more rows than one of the pages that are asked for.
    """
    for name in names:
        base = yield from _base(name, ask)
        if base is not None:
            return name, base
    return None


def _base(name: str, ask: Ask) -> Generator[Step, Any, int | None]:
    for _ in range(LOOKS):
        first = yield from _page(ask, name, 0)
        zero, one = _met(first), (yield from _keys(ask, name, 1))
        again = first if zero == one else (yield from _page(ask, name, 0))
        if first and again and zero != _met(again) and first.total_count == again.total_count:
            counted = yield from _by_the_end(name, ask, len(first.rows), first.total_count)
            if counted is not None:
                return counted
        elif zero and one and zero.isdisjoint(one) and zero == _met(again):
            return 0
        else:
            two = yield from _keys(ask, name, 2)
            if zero == one == two:
                return None
            if one and two and one.isdisjoint(two):
                seen = (yield from _keys(ask, name, 0)), (yield from _keys(ask, name, 1))
                if seen == (zero, one):
                    return 1
    return None


def _by_the_end(name: str, ask: Ask, size: int, total: int) -> Generator[Step, Any, int | None]:
    """The first page's number, from how many rows the pages around the last one hold."""
    if not size:
        return None
    last, rest = (total - 1) // size, (total - 1) % size + 1
    held: list[int] = []
    for number in (last, last + 1, last + 2):
        page = yield from _page(ask, name, number)
        if page is not None and page.total_count != total:
            return None
        held.append(len(page.rows) if page else 0)
    return {(rest, 0, 0): 0, (size, rest, 0): 1}.get((held[0], held[1], held[2]))


def _page(ask: Ask, name: str, number: int) -> Generator[Step, Any, Page | None]:
    """A page. A server that counts from 1 may break over page 0; it must not over the others."""
    try:
        return (yield from ask(name, number))
    except Unreachable:
        if number:
            raise
        return None


def _keys(ask: Ask, name: str, number: int) -> Generator[Step, Any, Keys]:
    return _met((yield from _page(ask, name, number)))


def _met(page: Page | None) -> Keys:
    return Keys(key_of(row) for row in page.rows) if page else Keys()


def page_if_given(step: Step) -> Generator[Step, Any, Page | None]:
    """The answer, or nothing where the server refuses this form of the question."""
    try:
        page: Page = yield step
    except RequestRefused:
        return None
    return page
