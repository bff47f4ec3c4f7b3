"""Find the status filter: it works if two statuses each give their own rows only."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from vetl.core.pages import Page
from vetl.core.steps import Plan
from vetl.discovery.parameter_names import STATUS_NAMES
from vetl.discovery.probes import SLIGHT, TWICE, ListKnowledge, ask, bisected, name_finding, recall
from vetl.discovery.report import Finding

NO_STATUS = "vetl_doctor"

Findings = Plan[list[Finding]]


def check_statuses(
    knowledge: ListKnowledge, statuses: Sequence[str], *, column: str = "status", fixed: bool = False
) -> Findings:
    """Prove the name of the filter on `column`, by two of the statuses that the contract lists."""
    configured = knowledge.names.status
    plain = yield from recall(knowledge, knowledge.whole)
    if plain is None or not plain.total_count:
        return [Finding(knowledge.endpoint, "status", "unknown", configured, "the list is empty")]
    tried = _contrasting(plain, statuses, column)
    evidence = yield from _evidence(knowledge, plain, configured, tried, column)
    if (
        evidence is None
        and not fixed
        and (yield from _any_works(knowledge, plain, tried[-1], STATUS_NAMES)) is not False
    ):
        works = partial(_any_works, knowledge, plain, tried[-1])
        for name in (yield from bisected(STATUS_NAMES, works)):
            if name != configured and (evidence := (yield from _evidence(knowledge, plain, name, tried, column))):
                knowledge.names = replace(knowledge.names, status=name)
                break
    if evidence is None:
        return [_ignored(knowledge)]
    knowledge.proven.add("status")
    finding = name_finding(knowledge, "status", configured, f"{evidence}, of {plain.total_count}")
    return [finding, (yield from _unknown_status(knowledge))] if knowledge.thorough else [finding]


def _contrasting(plain: Page, statuses: Sequence[str], column: str) -> list[str]:
    """Return the two statuses that most rows of the page have. A row may hold any JSON value as its status."""
    counts = Counter(str(row.get(column)) for row in plain.rows)
    return sorted(statuses, key=lambda status: -counts[status])[:2]


def _evidence(
    knowledge: ListKnowledge, plain: Page, name: str, tried: Sequence[str], column: str
) -> Plan[str | None]:
    """Return the row counts by status; `None` if a status is refused, gives rows of another, or both give none.

    On a list of one or two rows both statuses are requested once more: an ignored filter also shows no row of the
    second status if the only row has gone meanwhile.
    """
    totals = yield from _totals(knowledge, name, tried, column)
    if totals is None or not any(totals):
        return None
    counts = " + ".join(f"{total} {status}" for total, status in zip(totals, tried, strict=True))
    if plain.total_count > SLIGHT:
        return f"{counts} rows"
    return f"{counts} rows{TWICE}" if (yield from _totals(knowledge, name, tried, column)) == totals else None


def _totals(knowledge: ListKnowledge, name: str, tried: Sequence[str], column: str) -> Plan[list[int] | None]:
    """Return the total of each status; `None` if one is refused or gives rows of another."""
    totals: list[int] = []
    for status in tried:
        page = yield from ask(knowledge, {**knowledge.whole, **knowledge.smallest, name: status})
        if page is None or any(row.get(column) != status for row in page.rows):
            return None
        totals.append(page.total_count)
    return totals


def _any_works(knowledge: ListKnowledge, plain: Page, status: str, names: Sequence[str]) -> Plan[bool | None]:
    """Return whether these names, sent together, change the total; `None` if the server refuses them."""
    page = yield from ask(knowledge, {**knowledge.whole, **knowledge.smallest, **dict.fromkeys(names, status)})
    return None if page is None else page.total_count != plain.total_count


def _unknown_status(knowledge: ListKnowledge) -> Plan[Finding]:
    page = yield from ask(knowledge, {**knowledge.whole, **knowledge.smallest, knowledge.names.status: NO_STATUS})
    if page is None:
        answer, evidence = "refused", "a status that does not exist is refused"
    elif page.total_count:
        answer, evidence = "everything", "a status that does not exist shows every row"
    else:
        answer, evidence = "nothing", "a status that does not exist shows no row"
    return Finding(knowledge.endpoint, "unknown status", "note", answer, evidence)


def _ignored(knowledge: ListKnowledge) -> Finding:
    return Finding(
        knowledge.endpoint,
        "status",
        "ignored",
        "none",
        f"{knowledge.names.status} is not honoured, nor is any other name tried",
        "no action needed: reading costs more requests, because totals by status are not used",
    )
