"""Which parameter turns the page, and whether the first page is 0 or 1 (contract: Endpoints, "not shown").

Two pages prove a parameter where they have no row in common. Where a list moves between two requests, pages that
are not told apart differ too: a little, or altogether where they hold one row, so single rows are looked at twice.
Pages from 1 are believed where pages 1 and 2 are told apart and pages 0 and 1 are not, both seen twice.
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
        zero, one = (yield from _keys(ask, name, 0)), (yield from _keys(ask, name, 1))
        if zero and one and zero.isdisjoint(one):
            if len(zero) > 1 or zero == (yield from _keys(ask, name, 0)):
                return 0
            continue
        two = yield from _keys(ask, name, 2)
        if zero == one == two:
            return None
        if one and two and one.isdisjoint(two):
            again = (yield from _keys(ask, name, 0)), (yield from _keys(ask, name, 1))
            if again == (zero, one):
                return 1
    return None


def _keys(ask: Ask, name: str, number: int) -> Generator[Step, Any, Keys]:
    """The rows of a page. A server that counts from 1 may break over page 0; it must not over the others."""
    try:
        page = yield from ask(name, number)
    except Unreachable:
        if number:
            raise
        page = None
    return Keys(key_of(row) for row in page.rows) if page else Keys()


def page_if_given(step: Step) -> Generator[Step, Any, Page | None]:
    """The answer, or nothing where the server refuses this form of the question."""
    try:
        page: Page = yield step
    except RequestRefused:
        return None
    return page
