"""The status filter: honoured where each status shows rows of its own and of no other."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from pipelines.doctor.asking import Known, ask, candidates
from pipelines.doctor.finding import Finding
from pipelines.doctor.ranges import name_finding
from pipelines.steps import Step

NAMES = ("status", "state", "statuses", "status[]", "filter[status]", "status_filter", "with_status", "by_status")
NO_STATUS = "vetl_doctor"

Found = Generator[Step, Any, list[Finding]]


def check_statuses(known: Known, statuses: Sequence[str], *, column: str = "status", fixed: bool = False) -> Found:
    """Prove the name of the filter on `column`, by one request for each status."""
    configured = known.names.status
    plain = yield from ask({**known.whole, **known.smallest})
    if plain is None or not plain.total_count:
        return [Finding(known.endpoint, "status", "unknown", configured, "the list is empty")]
    for name in candidates((configured,), () if fixed else NAMES):
        totals = yield from _totals(known, name, statuses, column)
        if totals is None or all(total == plain.total_count for total in totals):
            continue
        known.names = replace(known.names, status=name)
        known.proven.add("status")
        shown = " + ".join(map(str, totals))
        evidence = f"{shown} rows by status, {plain.total_count} in all"
        return [name_finding(known, "status", configured, evidence), (yield from _unknown_status(known))]
    return [_ignored(known)]


def _totals(
    known: Known, name: str, statuses: Sequence[str], column: str
) -> Generator[Step, Any, list[int] | None]:
    """The total under each status; nothing where one is refused or shows a row of another status."""
    totals: list[int] = []
    for status in statuses:
        page = yield from ask({**known.whole, **known.smallest, name: status})
        if page is None or any(row.get(column) != status for row in page.rows):
            return None
        totals.append(page.total_count)
    return totals


def _unknown_status(known: Known) -> Generator[Step, Any, Finding]:
    page = yield from ask({**known.whole, **known.smallest, known.names.status: NO_STATUS})
    if page is None:
        found, evidence = "refused", "a status that does not exist is refused"
    elif page.total_count:
        found, evidence = "everything", "a status that does not exist shows every row"
    else:
        found, evidence = "nothing", "a status that does not exist shows no row"
    return Finding(known.endpoint, "unknown status", "note", found, evidence)


def _ignored(known: Known) -> Finding:
    return Finding(
        known.endpoint,
        "status",
        "ignored",
        "none",
        f"{known.names.status} is not honoured, nor is any other name tried",
        "nothing needs to be done: totals by status are not used, reading takes more requests",
    )
