"""Which parameter turns the page, and whether the first page is 0 or 1 (contract: Endpoints, "not shown").

Two pages are told apart where hardly a row of one is in the other, and are the same where hardly one is not: so a
list in which a few rows move between two requests still shows which it is. Pages from 0 are believed where pages 0
and 1 are told apart and page 0 is the same when it is asked for again; pages from 1 where pages 1 and 2 are told
apart and pages 0 and 1 are not (or there is no page 0), both seen twice.

What pages of a few rows hold proves nothing: tied rows change places, and one row that comes moves them all. How
many rows the last pages hold does: under a total that stands still, the page after the last is empty.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipelines.core.capabilities import Result
from pipelines.core.errors import Unreachable
from pipelines.core.pages import Page
from pipelines.core.steps import Plan
from pipelines.reading.rows import key_of

LOOKS = 2
"""Times that a list is looked at until it holds still for long enough; then it is undecided."""
ENOUGH = 4
"""Rows on a page from which on what it holds is believed: of fewer, a quarter is not a whole row."""
FEW = 3
"""Rows on a page up to which a few rows that move can make three pages look like one: it must be seen twice."""

Ask = Callable[[str, int], Plan[Page | None]]
"""Asks for the page with this number, under this name; nothing where it is refused."""
Keys = frozenset[str]


@dataclass(frozen=True, slots=True)
class PageNumbers:
    """The parameter that turns pages and the number of the first page, where it is honoured."""

    result: Result
    name: str = ""
    base: int | None = None


IGNORED, UNDECIDED = PageNumbers(Result.IGNORED), PageNumbers(Result.UNDECIDED)
REFUSED = PageNumbers(Result.IGNORED)
"""The server refuses the name, whatever the number."""


def find_pages(
    names: Sequence[str],
    ask: Ask,
    order: Callable[[Sequence[str]], Plan[Sequence[str]]] | None = None,
) -> Plan[PageNumbers]:
    """The first of the names that turns pages; ignored where every page repeats the first under each name taken.

    Where that is undecided for a name, others are not tried: they would be no clearer. Where the server refuses
    all of them, nothing is known. The list must hold more rows than one of the pages that are asked for. `order`
    puts those after the first into the order in which they are tried.
    """
    verdict = UNDECIDED
    left = list(names)
    while left:
        name = left.pop(0)
        numbers = yield from _look(name, ask)
        if numbers.result is not Result.IGNORED:
            return numbers
        if numbers is not REFUSED:
            verdict = IGNORED
        if order is not None:
            left, order = list((yield from order(left))), None
    return verdict


def _look(name: str, ask: Ask) -> Plan[PageNumbers]:
    for look in range(LOOKS):
        zero, one = (yield from _page(ask, name, 0)), (yield from _page(ask, name, 1))
        if zero is None or not zero.rows or are_same(zero, one):
            numbers = yield from _behind_the_second(name, ask, zero, one)
        elif len(zero.rows) >= ENOUGH and are_apart(zero, one):
            again = yield from _page(ask, name, 0)
            numbers = PageNumbers(Result.HONOURED, name, 0) if are_same(zero, again) else UNDECIDED
        else:
            numbers = UNDECIDED
        if numbers is IGNORED and zero and len(zero.rows) < FEW and look + 1 < LOOKS:
            continue
        if numbers is UNDECIDED:
            numbers = yield from _by_the_end(name, ask, zero, one)
        if numbers is not UNDECIDED:
            return numbers
    return UNDECIDED


def _behind_the_second(name: str, ask: Ask, zero: Page | None, one: Page | None) -> Plan[PageNumbers]:
    """Pages 0 and 1 are the same, or there is no page 0: page 2 tells whether pages count from 1."""
    two = yield from _page(ask, name, 2)
    if zero is one is two is None:
        return REFUSED
    if zero and one and two and are_same(zero, one) and are_same(one, two):
        return IGNORED if zero.total_count == one.total_count == two.total_count else UNDECIDED
    if one is None or len(one.rows) < ENOUGH or not are_apart(one, two):
        return UNDECIDED
    seen = (yield from _page(ask, name, 0)), (yield from _page(ask, name, 1))
    is_seen_twice = not _keys(zero) | _keys(seen[0]) or are_same(zero, seen[0])
    return PageNumbers(Result.HONOURED, name, 1) if is_seen_twice and are_same(one, seen[1]) else UNDECIDED


def are_same(page: Page | None, other: Page | None) -> bool:
    """Whether two answers show one page: three quarters of the rows are in both."""
    some, others = _keys(page), _keys(other)
    return bool(some and others) and 4 * len(some & others) >= 3 * max(len(some), len(others))


def are_apart(page: Page | None, other: Page | None) -> bool:
    """Whether two answers show two pages: a quarter of the rows at most are in both."""
    some, others = _keys(page), _keys(other)
    return bool(some and others) and 4 * len(some & others) <= min(len(some), len(others))


def _by_the_end(name: str, ask: Ask, zero: Page | None, one: Page | None) -> Plan[PageNumbers]:
    """The first page's number, from how many rows the pages around the last one hold.

    A total that is too low by a page looks like pages from 1, but for a page 0 that holds rows of its own.
    """
    first = zero if zero and zero.rows else one
    if first is None or not first.rows:
        return UNDECIDED
    size, total = len(first.rows), first.total_count
    last, rest = (total - 1) // size, (total - 1) % size + 1
    held: list[int] = []
    for number in (last, last + 1, last + 2):
        page = yield from _page(ask, name, number)
        if page is not None and page.total_count != total:
            return UNDECIDED
        held.append(len(page.rows) if page else 0)
    base = {(rest, 0, 0): 0, (size, rest, 0): 1}.get((held[0], held[1], held[2]))
    if base is None or (base and _keys(zero) - _keys(one)):
        return UNDECIDED
    return PageNumbers(Result.HONOURED, name, base)


def _page(ask: Ask, name: str, number: int) -> Plan[Page | None]:
    """A page. A server that counts from 1 may break over page 0; it must not over the others."""
    try:
        return (yield from ask(name, number))
    except Unreachable:
        if number:
            raise
        return None


def _keys(page: Page | None) -> Keys:
    return Keys(key_of(row) for row in page.rows) if page else Keys()
