"""Common query names of parameters that the contract does not show (contract: Endpoints), most likely first.

A name is believed only after two contrasting values have changed the answer.

A list may be too short to prove any name, and its server may refuse names that it does not know. A refused name
would fail every read. An accepted name is not proven, so it is checked again when the list has grown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vetl.core.steps import Plan
from vetl.discovery.probes import ListKnowledge, candidates, refusal_of, whole_bounds

DATE_RANGE_NAMES = (
    ("start", "end"),
    ("from", "to"),
    ("updated_from", "updated_to"),
    ("updated_since", "updated_until"),
    ("updated_after", "updated_before"),
    ("updated_at_start", "updated_at_end"),
    ("updated_at_from", "updated_at_to"),
    ("updated_start", "updated_end"),
    ("start_time", "end_time"),
    ("start_at", "end_at"),
    ("date_from", "date_to"),
    ("from_date", "to_date"),
    ("since", "until"),
    ("startDate", "endDate"),
    ("updated_at_min", "updated_at_max"),
    ("updated_at_gte", "updated_at_lte"),
    ("updated_at[gte]", "updated_at[lte]"),
    ("updated_start_date", "updated_end_date"),
    ("modified_since", "modified_until"),
    ("modified_after", "modified_before"),
    ("date_start", "date_end"),
    ("start_datetime", "end_datetime"),
    ("begin", "end"),
    ("after", "before"),
    ("fromDate", "toDate"),
    ("dateFrom", "dateTo"),
    ("startTime", "endTime"),
    ("updatedFrom", "updatedTo"),
    ("updatedSince", "updatedUntil"),
    ("updatedAfter", "updatedBefore"),
    ("updatedAtStart", "updatedAtEnd"),
)
"""Pairs of a start and its usual end. A server may combine others, so ends are searched by themselves."""

PAGE_NAMES = (
    "page_number",
    "page_no",
    "pageNumber",
    "page_index",
    "p",
    "pageNo",
    "pageIndex",
    "page_num",
    "current_page",
    "page[number]",
)
"""No `offset` or `skip`: the contract describes a page number."""

SIZE_NAMES = (
    "per_page",
    "limit",
    "page_size",
    "pageSize",
    "perPage",
    "size",
    "count",
    "items_per_page",
    "max_results",
    "page_limit",
    "page[size]",
)

STATUS_NAMES = (
    "status",
    "state",
    "statuses",
    "status[]",
    "filter[status]",
    "status_filter",
    "with_status",
    "by_status",
    "filter_status",
    "statusFilter",
)


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
    if not trials or (yield from refusal_of(knowledge, {**knowledge.whole, **query})) is None:
        return
    for key, values in trials.items():
        for name in candidates((getattr(knowledge.names, key),), NAMES[key]):
            if (yield from _is_accepted(knowledge, name, values)):
                knowledge.names = replace(knowledge.names, **{key: name})
                break


def _values(knowledge: ListKnowledge, statuses: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return trial values of each parameter. A server may refuse page 1 as beyond the end, page 0 as too low."""
    _, late = whole_bounds(knowledge.reading, knowledge.bounds)
    end = (late,) if knowledge.whole else ()
    return {"end": end, "per_page": ("1",), "page": ("1", "0"), "status": statuses[:1]}


def _is_accepted(knowledge: ListKnowledge, name: str, values: Sequence[str]) -> Plan[bool]:
    for value in values:
        if (yield from refusal_of(knowledge, {**knowledge.whole, name: value})) is None:
            return True
    return False
