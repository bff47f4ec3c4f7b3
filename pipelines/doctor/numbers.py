"""Page numbers: the parameter, whether they start at 0 or 1, and what lies beyond the end."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from pipelines.doctor.asking import Known, ask, candidates
from pipelines.doctor.finding import Finding
from pipelines.doctor.ranges import name_finding
from pipelines.pages import Page
from pipelines.steps import Step
from pipelines.strategies.learning import PAGE_NAMES
from pipelines.strategies.paging import key_of

LOOKS = 3
BEYOND = 1_000

Found = Generator[Step, Any, list[Finding]]


def check_numbers(known: Known, *, fixed: bool = False) -> Found:
    """Prove the page number's name by two pages with different rows, and from which number on."""
    configured = known.names.page
    first = yield from ask({**known.whole, **known.smallest})
    if first is None or first.total_count <= len(first.rows):
        return [Finding(known.endpoint, "page", "unknown", configured, "all rows are on one page")]
    for name in candidates((configured,), () if fixed else ("page", *PAGE_NAMES)):
        base = yield from _base(known, name)
        if base is not None:
            known.names = replace(known.names, page=name)
            known.page_base = base
            known.proven.add("page")
            evidence = f"{name}={base} and {name}={base + 1} hold different rows"
            return [
                name_finding(known, "page", configured, evidence),
                Finding(known.endpoint, "first page", "ok" if not base else "note", str(base), evidence),
                (yield from _beyond(known, first)),
            ]
    return [_ignored(known)]


def _base(known: Known, name: str) -> Generator[Step, Any, int | None]:
    """The number of the first page; nothing where the name makes no difference.

    A list that moves between two requests may repeat a row on both pages: then both are read again.
    """
    for _ in range(LOOKS):
        zero = yield from _keys(known, name, 0)
        one = yield from _keys(known, name, 1)
        if zero and one and zero.isdisjoint(one):
            return 0
        two = yield from _keys(known, name, 2)
        if one and two and one.isdisjoint(two):
            return 1
        # With two pages in all and pages from 1, page 2 is the last, and page 0 is refused or repeats page 1.
        if zero == one == two:
            return None
    return None


def _keys(known: Known, name: str, number: int) -> Generator[Step, Any, set[str]]:
    page = yield from ask({**known.whole, **known.smallest, name: str(number)})
    return set() if page is None else {key_of(row) for row in page.rows}


def _beyond(known: Known, first: Page) -> Generator[Step, Any, Finding]:
    number = first.total_count + BEYOND
    page = yield from ask({**known.whole, **known.smallest, known.names.page: str(number)})
    if page is None:
        return Finding(known.endpoint, "beyond the end", "note", "refused", f"page {number} is refused")
    if page.rows:
        evidence = f"page {number} repeats rows"
        return Finding(known.endpoint, "beyond the end", "note", "repeats", evidence)
    agrees = "the same" if page.total_count == first.total_count else "another"
    evidence = f"page {number} is empty and tells {agrees} total"
    return Finding(known.endpoint, "beyond the end", "ok", "empty", evidence)


def _ignored(known: Known) -> Finding:
    return Finding(
        known.endpoint,
        "page",
        "contradicts",
        "none",
        f"{known.names.page} is not honoured, nor is any other name tried: every page repeats the first",
        f"ask the platform how {known.endpoint} is paged, and set page in [partner.parameters.{known.endpoint}]; "
        "until then the list cannot be read whole",
    )
