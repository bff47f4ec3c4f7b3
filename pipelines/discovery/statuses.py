"""The status filter: honoured where two statuses each show rows of their own and of no other."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pipelines.core.pages import Page
from pipelines.core.steps import Plan
from pipelines.discovery.asking import ListKnowledge, ask, likely_first, recall
from pipelines.discovery.finding import Finding
from pipelines.discovery.parameter_names import STATUS_NAMES
from pipelines.discovery.ranges import name_finding

NO_STATUS = "vetl_doctor"

Found = Plan[list[Finding]]


def check_statuses(
    known: ListKnowledge, statuses: Sequence[str], *, column: str = "status", fixed: bool = False
) -> Found:
    """Prove the name of the filter on `column`, by two of the statuses that the contract lists."""
    configured = known.names.status
    plain = yield from recall(known, known.whole)
    if plain is None or not plain.total_count:
        return [Finding(known.endpoint, "status", "unknown", configured, "the list is empty")]
    tried = _contrasting(plain, statuses, column)
    evidence = yield from _evidence(known, configured, tried, column)
    if (
        evidence is None
        and not fixed
        and (yield from _any_works(known, plain, tried[-1], STATUS_NAMES)) is not False
    ):
        works = partial(_any_works, known, plain, tried[-1])
        for name in (yield from likely_first(STATUS_NAMES, works)):
            if name != configured and (evidence := (yield from _evidence(known, name, tried, column))):
                known.names = replace(known.names, status=name)
                break
    if evidence is None:
        return [_ignored(known)]
    known.proven.add("status")
    found = name_finding(known, "status", configured, f"{evidence}, of {plain.total_count}")
    return [found, (yield from _unknown_status(known))] if known.thorough else [found]


def _contrasting(plain: Page, statuses: Sequence[str], column: str) -> list[str]:
    """Two statuses, those first that most rows have."""
    met = Counter(row.get(column) for row in plain.rows)
    return sorted(statuses, key=lambda status: -met[status])[:2]


def _evidence(known: ListKnowledge, name: str, tried: Sequence[str], column: str) -> Plan[str | None]:
    """How many rows each status shows; nothing where one is refused, shows a row of another, or none shows any."""
    totals: list[int] = []
    for status in tried:
        page = yield from ask(known, {**known.whole, **known.smallest, name: status})
        if page is None or any(row.get(column) != status for row in page.rows):
            return None
        totals.append(page.total_count)
    shown = " + ".join(f"{total} {status}" for total, status in zip(totals, tried, strict=True))
    return f"{shown} rows" if any(totals) else None


def _any_works(known: ListKnowledge, plain: Page, status: str, names: Sequence[str]) -> Plan[bool | None]:
    """Whether these names together narrow the list; nothing where they are refused."""
    page = yield from ask(known, {**known.whole, **known.smallest, **dict.fromkeys(names, status)})
    return None if page is None else page.total_count < plain.total_count


def _unknown_status(known: ListKnowledge) -> Plan[Finding]:
    page = yield from ask(known, {**known.whole, **known.smallest, known.names.status: NO_STATUS})
    if page is None:
        found, evidence = "refused", "a status that does not exist is refused"
    elif page.total_count:
        found, evidence = "everything", "a status that does not exist shows every row"
    else:
        found, evidence = "nothing", "a status that does not exist shows no row"
    return Finding(known.endpoint, "unknown status", "note", found, evidence)


def _ignored(known: ListKnowledge) -> Finding:
    return Finding(
        known.endpoint,
        "status",
        "ignored",
        "none",
        f"{known.names.status} is not honoured, nor is any other name tried",
        "nothing needs to be done: totals by status are not used, reading takes more requests",
    )
