"""Common query names of parameters that the contract does not show (contract: Endpoints), most likely first.

Also the check of the status filter under these names.

A name is believed only after two contrasting values have changed the answer.

A list may be too short to prove any name, and its server may refuse names that it does not know. A refused name
would fail every read. An accepted name is not proven, so it is checked again when the list has grown.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from vetl.core.pages import Page
from vetl.core.steps import Plan
from vetl.discovery import probes
from vetl.discovery.probes import Finding, Findings, ListKnowledge

DATE_RANGE_NAMES = (
    ("start", "end"), ("from", "to"), ("updated_from", "updated_to"), ("updated_since", "updated_until"),
    ("updated_after", "updated_before"), ("updated_at_start", "updated_at_end"),
    ("updated_at_from", "updated_at_to"), ("updated_start", "updated_end"), ("start_time", "end_time"),
    ("start_at", "end_at"), ("date_from", "date_to"), ("from_date", "to_date"), ("since", "until"),
    ("startDate", "endDate"), ("updated_at_min", "updated_at_max"), ("updated_at_gte", "updated_at_lte"),
    ("updated_at[gte]", "updated_at[lte]"), ("updated_start_date", "updated_end_date"),
    ("modified_since", "modified_until"), ("modified_after", "modified_before"), ("date_start", "date_end"),
    ("start_datetime", "end_datetime"), ("begin", "end"), ("after", "before"), ("fromDate", "toDate"),
    ("dateFrom", "dateTo"), ("startTime", "endTime"), ("updatedFrom", "updatedTo"),
    ("updatedSince", "updatedUntil"), ("updatedAfter", "updatedBefore"), ("updatedAtStart", "updatedAtEnd"),
)  # fmt: skip
"""Pairs of a start and its usual end. A server may combine others, so ends are searched by themselves."""

PAGE_NAMES = (
    "page_number", "page_no", "pageNumber", "page_index", "p", "pageNo", "pageIndex", "page_num",
    "current_page", "page[number]",
)  # fmt: skip
"""No `offset` or `skip`: the contract describes a page number."""

SIZE_NAMES = (
    "per_page", "limit", "page_size", "pageSize", "perPage", "size", "count", "items_per_page", "max_results",
    "page_limit", "page[size]",
)  # fmt: skip

STATUS_NAMES = (
    "status", "state", "statuses", "status[]", "filter[status]", "status_filter", "with_status", "by_status",
    "filter_status", "statusFilter",
)  # fmt: skip


NAMES: Mapping[str, Sequence[str]] = {
    "end": [end for _, end in DATE_RANGE_NAMES],
    "per_page": SIZE_NAMES,
    "page": ("page", *PAGE_NAMES),
    "status": STATUS_NAMES,
}


def choose_accepted_names(
    knowledge: ListKnowledge, unproven: Sequence[str], statuses: Sequence[str]
) -> Plan[None]:
    """Replace refused names by accepted ones. One request, if the server accepts all unproven names."""
    trials = {key: values for key, values in _values(knowledge, statuses).items() if key in unproven and values}
    query = {getattr(knowledge.names, key): values[0] for key, values in trials.items()}
    if not trials or (yield from knowledge.refusal_of({**knowledge.whole, **query})) is None:
        return
    for key, values in trials.items():
        for name in probes.candidates((getattr(knowledge.names, key),), NAMES[key]):
            if (yield from _is_accepted(knowledge, name, values)):
                knowledge.names = replace(knowledge.names, **{key: name})
                break


def _values(knowledge: ListKnowledge, statuses: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return trial values of each parameter. A server may refuse page 1 as beyond the end, page 0 as too low."""
    _, late = knowledge.widest(knowledge.bounds)
    end = (late,) if knowledge.whole else ()
    return {"end": end, "per_page": ("1",), "page": ("1", "0"), "status": statuses[:1]}


def _is_accepted(knowledge: ListKnowledge, name: str, values: Sequence[str]) -> Plan[bool]:
    for value in values:
        if (yield from knowledge.refusal_of({**knowledge.whole, name: value})) is None:
            return True
    return False


NO_STATUS = "vetl_doctor"


def check_statuses(knowledge: ListKnowledge, statuses: Sequence[str], *, column: str = "status") -> Findings:
    """Prove the name of the filter on `column`, by two of the statuses that the contract lists."""
    configured = knowledge.names.status
    plain = yield from knowledge.recall(knowledge.whole)
    if plain is None or not plain.total_count:
        return [knowledge.finding("status", "unknown", configured, "the list is empty")]
    tried = _contrasting(plain, statuses, column)
    evidence = yield from _evidence(knowledge, plain, configured, tried, column)
    if (
        evidence is None
        and not knowledge.has_shown_names
        and (yield from _any_works(knowledge, plain, tried[-1], STATUS_NAMES)) is not False
    ):
        works = partial(_any_works, knowledge, plain, tried[-1])
        for name in (yield from probes.bisected(STATUS_NAMES, works)):
            if name != configured and (evidence := (yield from _evidence(knowledge, plain, name, tried, column))):
                knowledge.names = replace(knowledge.names, status=name)
                break
    if evidence is None:
        return [_ignored(knowledge)]
    knowledge.proven.add("status")
    finding = knowledge.name_finding("status", configured, f"{evidence}, of {plain.total_count}")
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
    if plain.total_count > probes.SLIGHT:
        return f"{counts} rows"
    return (
        f"{counts} rows{probes.TWICE}" if (yield from _totals(knowledge, name, tried, column)) == totals else None
    )


def _totals(knowledge: ListKnowledge, name: str, tried: Sequence[str], column: str) -> Plan[list[int] | None]:
    """Return the total of each status; `None` if one is refused or gives rows of another."""
    totals: list[int] = []
    for status in tried:
        page = yield from knowledge.ask({**knowledge.whole, **knowledge.smallest, name: status})
        if page is None or any(row.get(column) != status for row in page.rows):
            return None
        totals.append(page.total_count)
    return totals


def _any_works(knowledge: ListKnowledge, plain: Page, status: str, names: Sequence[str]) -> Plan[bool | None]:
    """Return whether these names, sent together, change the total; `None` if the server refuses them."""
    page = yield from knowledge.ask({**knowledge.whole, **knowledge.smallest, **dict.fromkeys(names, status)})
    return None if page is None else page.total_count != plain.total_count


def _unknown_status(knowledge: ListKnowledge) -> Plan[Finding]:
    page = yield from knowledge.ask({**knowledge.whole, **knowledge.smallest, knowledge.names.status: NO_STATUS})
    if page is None:
        answer, evidence = "refused", "a status that does not exist is refused"
    elif page.total_count:
        answer, evidence = "everything", "a status that does not exist shows every row"
    else:
        answer, evidence = "nothing", "a status that does not exist shows no row"
    return knowledge.finding("unknown status", "note", answer, evidence)


def _ignored(knowledge: ListKnowledge) -> Finding:
    return knowledge.finding(
        "status",
        "ignored",
        "none",
        f"{knowledge.names.status} is not honoured, nor is any other name tried",
        "no action needed: reading costs more requests, because totals by status are not used",
    )
