"""Find the page size: its parameter, its default and its maximum (contract: Limits)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from vetl.core.pages import Page
from vetl.core.steps import Plan
from vetl.discovery.parameter_names import SIZE_NAMES
from vetl.discovery.probes import LARGEST, SLIGHT, TWICE, ListKnowledge, ask, bisected, name_finding, recall
from vetl.discovery.report import Finding

SMALLER = (50, 25, 20, 10)

Findings = Plan[list[Finding]]


def check_size(knowledge: ListKnowledge, *, fixed: bool = False) -> Findings:
    """Prove the name of the page size by pages of one and of two rows; then find the default and the maximum."""
    configured = knowledge.names.per_page
    plain = yield from recall(knowledge, knowledge.whole)
    if plain is None or plain.total_count < 2:  # noqa: PLR2004 - pages of one and two rows are compared
        return [Finding(knowledge.endpoint, "per_page", "unknown", configured, "fewer than two rows")]
    default = plain.per_page or len(plain.rows)
    name = yield from _name(knowledge, plain, fixed=fixed)
    if name is None:
        knowledge.page_size = min(default, LARGEST)
        return [_ignored(knowledge, default)]
    evidence = f"pages of 1 and of 2 rows hold 1 and 2{TWICE if plain.total_count <= SLIGHT else ''}"
    return [
        name_finding(knowledge, "per_page", configured, evidence),
        (yield from _limits(knowledge, name, default)),
    ]


def _name(knowledge: ListKnowledge, plain: Page, *, fixed: bool) -> Plan[str | None]:
    configured = knowledge.names.per_page
    if (yield from _is_proven(knowledge, plain, configured)):
        return configured
    any_works = yield from _any_holds_one(knowledge, SIZE_NAMES)
    if fixed or any_works is False:
        return None
    others = list(SIZE_NAMES)
    names = (yield from bisected(others, partial(_any_holds_one, knowledge))) if any_works else others
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
    if plain.total_count <= SLIGHT and not (
        (yield from _holds(knowledge, name, 1)) and (yield from _holds(knowledge, name, 2))
    ):
        return False
    knowledge.names = replace(knowledge.names, per_page=name)
    knowledge.proven.add("per_page")
    knowledge.smallest = {name: "1"}
    return True


def _any_holds_one(knowledge: ListKnowledge, names: Sequence[str]) -> Plan[bool | None]:
    """Return whether these names, sent together, give a page of one row; `None` if the server refuses them."""
    page = yield from ask(knowledge, {**knowledge.whole, **dict.fromkeys(names, "1")})
    return None if page is None else len(page.rows) == 1


def _holds(knowledge: ListKnowledge, name: str, size: int) -> Plan[bool]:
    page = yield from ask(knowledge, {**knowledge.whole, name: str(size)})
    return page is not None and len(page.rows) == size


def _holds_more(knowledge: ListKnowledge, name: str, size: int) -> Plan[bool]:
    """Return whether a page can hold more rows, by the largest page, which is read in any case."""
    page = yield from recall(knowledge, {**knowledge.whole, name: str(LARGEST)})
    return (page is not None and len(page.rows) >= size) or (yield from _holds(knowledge, name, size))


def _limits(knowledge: ListKnowledge, name: str, default: int) -> Plan[Finding]:
    most = yield from _most(knowledge, name, default)
    knowledge.page_size = most
    knowledge.largest = {name: str(most)}
    if not knowledge.thorough:
        return Finding(knowledge.endpoint, "page size", "note", f"{default} to {most}", f"a page holds {most}")
    over = yield from ask(knowledge, {**knowledge.whole, name: str(LARGEST + 1)})
    if over is None:
        beyond = f"{LARGEST + 1} is refused"
    elif (page_size := _page_size_of(over, LARGEST + 1)) > LARGEST:
        beyond = f"{page_size} are given"
    else:
        beyond = f"{LARGEST + 1} is cut to {page_size}"
    return Finding(knowledge.endpoint, "page size", "note", f"{default} to {most}", f"default {default}; {beyond}")


def _most(knowledge: ListKnowledge, name: str, default: int) -> Plan[int]:
    """Return the largest page that the server gives, which is at least its default."""
    for size in (LARGEST, *(smaller for smaller in SMALLER if smaller > default)):
        page = yield from recall(knowledge, {**knowledge.whole, name: str(size)})
        if page is None:
            continue
        page_size = _page_size_of(page, size)
        if page.total_count > len(page.rows) and page_size not in (size, page.per_page):
            again = yield from ask(
                knowledge, {**knowledge.whole, name: str(size)}
            )  # a short page may be torn, so it is read twice
            page_size = max(page_size, _page_size_of(again, size)) if again else page_size
        return max(1, min(size, page_size))
    return max(1, min(default, LARGEST))


def _page_size_of(page: Page, requested: int) -> int:
    """Return the page size of an answer: its rows if more rows follow, else the size that it echoes."""
    if page.total_count > len(page.rows):
        return len(page.rows)
    return page.per_page or requested


def _ignored(knowledge: ListKnowledge, default: int) -> Finding:
    return Finding(
        knowledge.endpoint,
        "per_page",
        "ignored",
        "none",
        f"{knowledge.names.per_page} is not honoured, nor is any other name tried",
        f"no action needed: pages hold {default} rows, so reading costs more requests",
    )
