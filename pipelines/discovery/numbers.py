"""Page numbers: the parameter, whether they start at 0 or 1, and what lies beyond the end."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pipelines.core.capabilities import Result
from pipelines.core.pages import Page
from pipelines.core.steps import Plan
from pipelines.discovery.asking import Asking, ListKnowledge, ask, candidates, likely_first, name_finding, recall
from pipelines.discovery.finding import Finding
from pipelines.discovery.page_numbers import are_same, find_pages
from pipelines.discovery.parameter_names import PAGE_NAMES

BEYOND = 1_000
A_GOOD_MANY = 20
"""Rows on the pages that are compared, where the server gives so many and the list has three such pages: one that
moves a little between two requests then still shows most of them again."""

Found = Plan[list[Finding]]


def check_numbers(knowledge: ListKnowledge, *, fixed: bool = False) -> Found:
    """Prove the page number's name by two pages with different rows, and from which number on."""
    configured = knowledge.names.page
    first = yield from recall(knowledge, {**knowledge.whole, **knowledge.smallest})
    if first is None or first.total_count <= len(first.rows):
        return [Finding(knowledge.endpoint, "page", "unknown", configured, "all rows are on one page")]
    most = min(A_GOOD_MANY, knowledge.page_size or A_GOOD_MANY)
    rows = str(max(1, min(most, first.total_count // 3)))
    size = dict.fromkeys(knowledge.smallest, rows)

    def page(name: str, number: int) -> Asking:
        return ask(knowledge, {**knowledge.whole, **size, name: str(number)})

    names = candidates((configured,), () if fixed else ("page", *PAGE_NAMES))

    def turns(names: Sequence[str]) -> Plan[bool | None]:
        beyond = yield from ask(
            knowledge, {**knowledge.whole, **size, **dict.fromkeys(names, str(first.total_count + 2))}
        )
        plain = yield from recall(knowledge, {**knowledge.whole, **size})
        return None if beyond is None else not are_same(plain, beyond)

    numbers = yield from find_pages(names, page, partial(likely_first, works=turns))
    if numbers.result is Result.IGNORED:
        return [_ignored(knowledge)]
    if numbers.base is None:
        evidence = "the list moves, or rows of one time change places: what its pages hold does not tell"
        return [Finding(knowledge.endpoint, "page", "unknown", configured, evidence)]
    knowledge.page_base = numbers.base
    knowledge.names = replace(knowledge.names, page=numbers.name)
    knowledge.proven.add("page")
    evidence = f"{numbers.name}={numbers.base} and {numbers.name}={numbers.base + 1} hold different rows"
    state = "note" if numbers.base else "ok"
    findings = [
        name_finding(knowledge, "page", configured, evidence),
        Finding(knowledge.endpoint, "first page", state, str(knowledge.page_base), evidence),
    ]
    return [*findings, (yield from _beyond(knowledge, first))] if knowledge.thorough else findings


def _beyond(knowledge: ListKnowledge, first: Page) -> Plan[Finding]:
    number = first.total_count + BEYOND
    page = yield from ask(knowledge, {**knowledge.whole, **knowledge.smallest, knowledge.names.page: str(number)})
    if page is None:
        return Finding(knowledge.endpoint, "beyond the end", "note", "refused", f"page {number} is refused")
    if page.rows:
        evidence = f"page {number} repeats rows"
        return Finding(knowledge.endpoint, "beyond the end", "note", "repeats", evidence)
    agrees = "the same" if page.total_count == first.total_count else "another"
    evidence = f"page {number} is empty and tells {agrees} total"
    return Finding(knowledge.endpoint, "beyond the end", "ok", "empty", evidence)


def _ignored(knowledge: ListKnowledge) -> Finding:
    return Finding(
        knowledge.endpoint,
        "page",
        "contradicts",
        "none",
        f"{knowledge.names.page} is not honoured, nor is any other name tried: every page repeats the first",
        f"ask the platform how {knowledge.endpoint} is paged, and set page in "
        f"[partner.parameters.{knowledge.endpoint}]; until then the list cannot be read whole",
    )
