"""How many rows a page holds: the parameter, the default, the most (contract: Limits)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pipelines.core.pages import Page
from pipelines.core.steps import Plan
from pipelines.discovery.asking import LARGEST, ListKnowledge, ask, likely_first, name_finding, recall
from pipelines.discovery.finding import Finding
from pipelines.discovery.parameter_names import SIZE_NAMES

SMALLER = (50, 25, 20, 10)

Found = Plan[list[Finding]]


def check_size(knowledge: ListKnowledge, *, fixed: bool = False) -> Found:
    """Prove the page size's name by pages of one and of two rows; then find the default and the most."""
    configured = knowledge.names.per_page
    plain = yield from recall(knowledge, knowledge.whole)
    if plain is None or plain.total_count < 2:  # noqa: PLR2004 - one and two rows are told apart
        return [Finding(knowledge.endpoint, "per_page", "unknown", configured, "fewer than two rows")]
    default = plain.per_page or len(plain.rows)
    name = yield from _name(knowledge, fixed=fixed)
    if name is None:
        knowledge.page_size = min(default, LARGEST)
        return [_ignored(knowledge, default)]
    evidence = "pages of 1 and of 2 rows hold 1 and 2"
    return [
        name_finding(knowledge, "per_page", configured, evidence),
        (yield from _limits(knowledge, name, default)),
    ]


def _name(knowledge: ListKnowledge, *, fixed: bool) -> Plan[str | None]:
    configured = knowledge.names.per_page
    if (yield from _is_proven(knowledge, configured)):
        return configured
    together = yield from _any_holds_one(knowledge, SIZE_NAMES)
    if fixed or together is False:
        return None
    others = list(SIZE_NAMES)
    names = (yield from likely_first(others, partial(_any_holds_one, knowledge))) if together else others
    for name in names:
        if name != configured and (yield from _is_proven(knowledge, name)):
            return name
    return None


def _is_proven(knowledge: ListKnowledge, name: str) -> Plan[bool]:
    """Whether a name gives pages of one row and of two. Fills in what is known."""
    contrast = _holds if knowledge.thorough else _holds_more
    if not ((yield from _holds(knowledge, name, 1)) and (yield from contrast(knowledge, name, 2))):
        return False
    knowledge.names = replace(knowledge.names, per_page=name)
    knowledge.proven.add("per_page")
    knowledge.smallest = {name: "1"}
    return True


def _any_holds_one(knowledge: ListKnowledge, names: Sequence[str]) -> Plan[bool | None]:
    """Whether these names together give a page of one row; nothing where they are refused."""
    page = yield from ask(knowledge, {**knowledge.whole, **dict.fromkeys(names, "1")})
    return None if page is None else len(page.rows) == 1


def _holds(knowledge: ListKnowledge, name: str, size: int) -> Plan[bool]:
    page = yield from ask(knowledge, {**knowledge.whole, name: str(size)})
    return page is not None and len(page.rows) == size


def _holds_more(knowledge: ListKnowledge, name: str, size: int) -> Plan[bool]:
    """The same, from the largest page, which is asked for in any case."""
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
    elif (given := _given(over, LARGEST + 1)) > LARGEST:
        beyond = f"{given} are given"
    else:
        beyond = f"{LARGEST + 1} is cut to {given}"
    return Finding(knowledge.endpoint, "page size", "note", f"{default} to {most}", f"default {default}; {beyond}")


def _most(knowledge: ListKnowledge, name: str, default: int) -> Plan[int]:
    """The most rows of a page that the server gives. As many as it gives unasked it gives in any case."""
    for size in (LARGEST, *(smaller for smaller in SMALLER if smaller > default)):
        page = yield from recall(knowledge, {**knowledge.whole, name: str(size)})
        if page is None:
            continue
        given = _given(page, size)
        if page.total_count > len(page.rows) and given not in (size, page.per_page):
            again = yield from ask(knowledge, {**knowledge.whole, name: str(size)})  # once short, it may be torn
            given = max(given, _given(again, size)) if again else given
        return max(1, min(size, given))
    return max(1, min(default, LARGEST))


def _given(page: Page, asked: int) -> int:
    """The page size that an answer shows: its rows where there are more, else what it echoes."""
    if page.total_count > len(page.rows):
        return len(page.rows)
    return page.per_page or asked


def _ignored(knowledge: ListKnowledge, default: int) -> Finding:
    return Finding(
        knowledge.endpoint,
        "per_page",
        "ignored",
        "none",
        f"{knowledge.names.per_page} is not honoured, nor is any other name tried",
        f"nothing needs to be done: pages hold {default} rows, reading takes more requests",
    )
