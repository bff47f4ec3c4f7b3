"""Common query names of parameters that the contract does not show (contract: Endpoints), most likely first.

A name is believed only after two contrasting values have changed the answer.
"""

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
