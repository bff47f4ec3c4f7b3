"""Find the parameters that turn the page and set its size, and the number of the first page.

The contract does not show the parameter (Endpoints, "not shown") and states zero-based pages for some lists only.

Two pages differ if at most a quarter of their rows is in both, and are the same if at least three quarters are: a
few rows that move between two requests do not change the verdict. Numbering from 0 is believed if pages 0 and 1
differ and page 0 is the same when it is read again. Numbering from 1 is believed if pages 1 and 2 differ and pages
0 and 1 do not (or page 0 does not exist), both seen twice.

The rows of short pages prove nothing: rows with equal sort keys change places, and one new row shifts all of them.
For short pages the row counts of the last pages decide: while the total stands still, the page after the last is
empty.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from vetl.core.errors import Unreachable
from vetl.core.list_read import Result
from vetl.core.pages import Page, key_of
from vetl.core.steps import Plan
from vetl.discovery import probes
from vetl.discovery.parameter_names import PAGE_NAMES, SIZE_NAMES
from vetl.discovery.probes import Finding, Findings, ListKnowledge

ATTEMPTS = 2
"""Attempts to find pages that do not change between two reads; after that the numbering stays undecided."""
ENOUGH = 4
"""Rows that a page must hold for its content to be believed: a quarter of fewer rows is less than one row."""
FEW = 3
"""Rows on a page up to which moving rows can make three pages look alike: the result must be seen twice."""
BEYOND = 1_000
ROWS_COMPARED = 20
"""Rows on each compared page, if the server allows it and the list fills three such pages: on a page of 20 rows
most rows appear again even if the list moves a little between two requests."""

Ask = Callable[[str, int], Plan[Page | None]]
"""Read the page with this number under this parameter name; return `None` if the server refuses it."""
Keys = frozenset[str]


@dataclass(frozen=True, slots=True)
class PageNumbers:
    """The parameter that turns pages and the number of the first page, if the server honours one."""

    result: Result
    name: str = ""
    base: int | None = None


IGNORED, UNDECIDED = PageNumbers(Result.IGNORED), PageNumbers(Result.UNDECIDED)
REFUSED = PageNumbers(Result.IGNORED)
"""The server refuses the name with every number."""


def check_numbers(knowledge: ListKnowledge) -> Findings:
    """Prove the page parameter by two pages with different rows, and find the number of the first page."""
    configured = knowledge.names.page
    first = yield from knowledge.recall({**knowledge.whole, **knowledge.smallest})
    if first is None or first.total_count <= len(first.rows):
        return [knowledge.finding("page", "unknown", configured, "all rows are on one page")]
    most = min(ROWS_COMPARED, knowledge.page_size or ROWS_COMPARED)
    rows = str(max(1, min(most, first.total_count // 3)))
    size = dict.fromkeys(knowledge.smallest, rows)

    def page(name: str, number: int) -> probes.PageProbe:
        return knowledge.ask({**knowledge.whole, **size, name: str(number)})

    names = probes.candidates((configured,), () if knowledge.has_shown_names else ("page", *PAGE_NAMES))

    def turns(names: Sequence[str]) -> Plan[bool | None]:
        beyond = yield from knowledge.ask(
            {**knowledge.whole, **size, **dict.fromkeys(names, str(first.total_count + 2))}
        )
        plain = yield from knowledge.recall({**knowledge.whole, **size})
        return None if beyond is None else not are_same(plain, beyond)

    numbers = yield from find_pages(names, page, partial(probes.bisected, works=turns))
    if numbers.result is Result.IGNORED:
        return [_unturned(knowledge)]
    if numbers.base is None:
        evidence = "the list moves, or rows with equal sort keys change places: its pages prove no numbering"
        return [knowledge.finding("page", "unknown", configured, evidence)]
    knowledge.page_base = numbers.base
    knowledge.names = replace(knowledge.names, page=numbers.name)
    knowledge.proven.add("page")
    evidence = f"{numbers.name}={numbers.base} and {numbers.name}={numbers.base + 1} hold different rows"
    state = "note" if numbers.base else "ok"
    findings = [
        knowledge.name_finding("page", configured, evidence),
        knowledge.finding("first page", state, str(knowledge.page_base), evidence),
    ]
    return [*findings, (yield from _beyond(knowledge, first))] if knowledge.thorough else findings


def _beyond(knowledge: ListKnowledge, first: Page) -> Plan[Finding]:
    number = first.total_count + BEYOND
    page = yield from knowledge.ask({**knowledge.whole, **knowledge.smallest, knowledge.names.page: str(number)})
    if page is None:
        return knowledge.finding("beyond the end", "note", "refused", f"page {number} is refused")
    if page.rows:
        evidence = f"page {number} repeats rows"
        return knowledge.finding("beyond the end", "note", "repeats", evidence)
    agrees = "the same" if page.total_count == first.total_count else "another"
    evidence = f"page {number} is empty and has {agrees} total"
    return knowledge.finding("beyond the end", "ok", "empty", evidence)


def _unturned(knowledge: ListKnowledge) -> Finding:
    return knowledge.finding(
        "page",
        "contradicts",
        "none",
        f"{knowledge.names.page} is not honoured, nor is any other name tried: every page repeats the first",
        f"ask the platform how {knowledge.endpoint} is paged, and set page in "
        f"[partner.parameters.{knowledge.endpoint}]; until then the list cannot be read whole",
    )


def find_pages(
    names: Sequence[str], turn: Ask, order: Callable[[Sequence[str]], Plan[Sequence[str]]] | None = None
) -> Plan[PageNumbers]:
    """Return the first name that turns pages, or `IGNORED` if every page repeats the first under each name.

    The list must hold more rows than one of the requested pages. If a name stays undecided, the remaining names
    are not tried, because they would be no clearer. If the server refuses all names, the result is undecided.
    `order` sorts the names after the first by how likely they are.
    """
    verdict = UNDECIDED
    left = list(names)
    while left:
        name = left.pop(0)
        numbers = yield from _numbering(name, turn)
        if numbers.result is not Result.IGNORED:
            return numbers
        if numbers is not REFUSED:
            verdict = IGNORED
        if order is not None:
            left, order = list((yield from order(left))), None
    return verdict


def _numbering(name: str, turn: Ask) -> Plan[PageNumbers]:
    for attempt in range(ATTEMPTS):
        zero, one = (yield from _page(turn, name, 0)), (yield from _page(turn, name, 1))
        if zero is None or not zero.rows or are_same(zero, one):
            numbers = yield from _numbering_by_third_page(name, turn, zero, one)
        elif len(zero.rows) >= ENOUGH and are_apart(zero, one):
            again = yield from _page(turn, name, 0)
            numbers = PageNumbers(Result.HONOURED, name, 0) if are_same(zero, again) else UNDECIDED
        else:
            numbers = UNDECIDED
        if numbers is IGNORED and zero and len(zero.rows) < FEW and attempt + 1 < ATTEMPTS:
            continue
        if numbers is UNDECIDED:
            numbers = yield from _numbering_by_last_pages(name, turn, zero, one)
        if numbers is not UNDECIDED:
            return numbers
    return UNDECIDED


def _numbering_by_third_page(name: str, turn: Ask, zero: Page | None, one: Page | None) -> Plan[PageNumbers]:
    """Read page 2 to decide whether pages start at 1; pages 0 and 1 are the same, or page 0 does not exist."""
    two = yield from _page(turn, name, 2)
    if zero is one is two is None:
        return REFUSED
    if zero and one and two and are_same(zero, one) and are_same(one, two):
        return IGNORED if zero.total_count == one.total_count == two.total_count else UNDECIDED
    if one is None or len(one.rows) < ENOUGH or not are_apart(one, two):
        return UNDECIDED
    repeats = (yield from _page(turn, name, 0)), (yield from _page(turn, name, 1))
    is_zero_stable = not _keys(zero) | _keys(repeats[0]) or are_same(zero, repeats[0])
    return PageNumbers(Result.HONOURED, name, 1) if is_zero_stable and are_same(one, repeats[1]) else UNDECIDED


def are_same(page: Page | None, other: Page | None) -> bool:
    """Return whether two answers show one page: at least three quarters of the rows are in both."""
    keys, other_keys = _keys(page), _keys(other)
    return bool(keys and other_keys) and 4 * len(keys & other_keys) >= 3 * max(len(keys), len(other_keys))


def are_apart(page: Page | None, other: Page | None) -> bool:
    """Return whether two answers show two pages: at most a quarter of the rows is in both."""
    keys, other_keys = _keys(page), _keys(other)
    return bool(keys and other_keys) and 4 * len(keys & other_keys) <= min(len(keys), len(other_keys))


def _numbering_by_last_pages(name: str, turn: Ask, zero: Page | None, one: Page | None) -> Plan[PageNumbers]:
    """Derive the first page's number from the row counts of the pages around the last one."""
    first = zero if zero and zero.rows else one
    if first is None or not first.rows:
        return UNDECIDED
    size, total = len(first.rows), first.total_count
    last, rest = (total - 1) // size, (total - 1) % size + 1
    counts: list[int] = []
    for number in (last, last + 1, last + 2):
        page = yield from _page(turn, name, number)
        if page is not None and page.total_count != total:
            return UNDECIDED
        counts.append(len(page.rows) if page else 0)
    base = {(rest, 0, 0): 0, (size, rest, 0): 1}.get((counts[0], counts[1], counts[2]))
    # A total that is too low by a page looks like numbering from 1, except that page 0 holds rows of its own.
    if base is None or (base and _keys(zero) - _keys(one)):
        return UNDECIDED
    return PageNumbers(Result.HONOURED, name, base)


def _page(turn: Ask, name: str, number: int) -> Plan[Page | None]:
    """Read a page. Page 0 may fail, because some servers that count from 1 answer page 0 with a 5xx."""
    try:
        return (yield from turn(name, number))
    except Unreachable:
        if number:
            raise
        return None


def _keys(page: Page | None) -> Keys:
    return Keys(key_of(row) for row in page.rows) if page else Keys()


SMALLER = (50, 25, 20, 10)


def check_size(knowledge: ListKnowledge) -> Findings:
    """Prove the name of the page size by pages of one and of two rows; then find the default and the maximum."""
    configured = knowledge.names.per_page
    plain = yield from knowledge.recall(knowledge.whole)
    if plain is None or plain.total_count < 2:  # noqa: PLR2004 - pages of one and two rows are compared
        return [knowledge.finding("per_page", "unknown", configured, "fewer than two rows")]
    default = plain.per_page or len(plain.rows)
    name = yield from _name(knowledge, plain)
    if name is None:
        knowledge.page_size = min(default, probes.LARGEST)
        return [_ignored(knowledge, default)]
    evidence = f"pages of 1 and of 2 rows hold 1 and 2{probes.TWICE if plain.total_count <= probes.SLIGHT else ''}"
    return [
        knowledge.name_finding("per_page", configured, evidence),
        (yield from _limits(knowledge, name, default)),
    ]


def _name(knowledge: ListKnowledge, plain: Page) -> Plan[str | None]:
    configured = knowledge.names.per_page
    if (yield from _is_proven(knowledge, plain, configured)):
        return configured
    any_works = yield from _any_holds_one(knowledge, SIZE_NAMES)
    if knowledge.has_shown_names or any_works is False:
        return None
    others = list(SIZE_NAMES)
    names = (yield from probes.bisected(others, partial(_any_holds_one, knowledge))) if any_works else others
    for name in names:
        if name != configured and (yield from _is_proven(knowledge, plain, name)):
            return name
    return None


def _is_proven(knowledge: ListKnowledge, plain: Page, name: str) -> Plan[bool]:
    """Return whether a name gives pages of one row and of two rows; store a proven name in `knowledge`.

    On a list of two rows both pages are requested once more: a page also holds one row if the other row has gone.
    """
    contrast = _holds if knowledge.thorough else _holds_more
    if not ((yield from _holds(knowledge, name, 1)) and (yield from contrast(knowledge, name, 2))):
        return False
    if plain.total_count <= probes.SLIGHT and not (
        (yield from _holds(knowledge, name, 1)) and (yield from _holds(knowledge, name, 2))
    ):
        return False
    knowledge.names = replace(knowledge.names, per_page=name)
    knowledge.proven.add("per_page")
    knowledge.smallest = {name: "1"}
    return True


def _any_holds_one(knowledge: ListKnowledge, names: Sequence[str]) -> Plan[bool | None]:
    """Return whether these names, sent together, give a page of one row; `None` if the server refuses them."""
    page = yield from knowledge.ask({**knowledge.whole, **dict.fromkeys(names, "1")})
    return None if page is None else len(page.rows) == 1


def _holds(knowledge: ListKnowledge, name: str, size: int) -> Plan[bool]:
    page = yield from knowledge.ask({**knowledge.whole, name: str(size)})
    return page is not None and len(page.rows) == size


def _holds_more(knowledge: ListKnowledge, name: str, size: int) -> Plan[bool]:
    """Return whether a page can hold more rows, by the largest page, which is read in any case."""
    page = yield from knowledge.recall({**knowledge.whole, name: str(probes.LARGEST)})
    return (page is not None and len(page.rows) >= size) or (yield from _holds(knowledge, name, size))


def _limits(knowledge: ListKnowledge, name: str, default: int) -> Plan[Finding]:
    most = yield from _most(knowledge, name, default)
    knowledge.page_size = most
    knowledge.largest = {name: str(most)}
    if not knowledge.thorough:
        return knowledge.finding("page size", "note", f"{default} to {most}", f"a page holds {most}")
    over = yield from knowledge.ask({**knowledge.whole, name: str(probes.LARGEST + 1)})
    if over is None:
        beyond = f"{probes.LARGEST + 1} is refused"
    elif (page_size := _page_size_of(over, probes.LARGEST + 1)) > probes.LARGEST:
        beyond = f"{page_size} are given"
    else:
        beyond = f"{probes.LARGEST + 1} is cut to {page_size}"
    return knowledge.finding("page size", "note", f"{default} to {most}", f"default {default}; {beyond}")


def _most(knowledge: ListKnowledge, name: str, default: int) -> Plan[int]:
    """Return the largest page that the server gives, which is at least its default."""
    for size in (probes.LARGEST, *(smaller for smaller in SMALLER if smaller > default)):
        page = yield from knowledge.recall({**knowledge.whole, name: str(size)})
        if page is None:
            continue
        page_size = _page_size_of(page, size)
        if page.total_count > len(page.rows) and page_size not in (size, page.per_page):
            again = yield from knowledge.ask(
                {**knowledge.whole, name: str(size)}
            )  # a short page may be torn, so it is read twice
            page_size = max(page_size, _page_size_of(again, size)) if again else page_size
        return max(1, min(size, page_size))
    return max(1, min(default, probes.LARGEST))


def _page_size_of(page: Page, requested: int) -> int:
    """Return the page size of an answer: its rows if more rows follow, else the size that it echoes."""
    if page.total_count > len(page.rows):
        return len(page.rows)
    return page.per_page or requested


def _ignored(knowledge: ListKnowledge, default: int) -> Finding:
    return knowledge.finding(
        "per_page",
        "ignored",
        "none",
        f"{knowledge.names.per_page} is not honoured, nor is any other name tried",
        f"no action needed: pages hold {default} rows, so reading costs more requests",
    )
