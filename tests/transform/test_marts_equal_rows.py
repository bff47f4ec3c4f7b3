"""Every mart, cell by cell, over random rows, compared with the definitions in plain Python.

`support.expected` has these definitions; `tests/e2e/test_marts_equal_truth.py` compares them with a platform's
truth.
"""

import pytest
from support.cells import Query
from support.dbt_build import Build
from support.expected import EXPECTED, assert_mart_is_true, mart_of
from support.mart_inputs import Known
from support.random_rows import PRACTICES, SOURCE_CLOCK, Tables


@pytest.fixture(scope="module")
def source(rows: Tables) -> Known:
    return Known(PRACTICES, SOURCE_CLOCK, rows)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_mart_equals_its_definition(name: str, source: Known, filled: Build) -> None:
    assert_mart_is_true(name, mart_of(filled.warehouse, name), source)


def test_the_most_urgent_request_comes_first(query: Query) -> None:
    places = query("select practice_id, urgency from marts.call_back_list")

    assert sorted(places) == places


OCCURS = {
    "every reason not to call": "select count(distinct not_actionable_because) >= 8 from marts.unbooked_requests",
    "an urgent request": "select max(urgency) > 5 from marts.call_back_list",
    "no day, no channel, both maturities and empty rates": """
        select bool_or(day is null) and bool_or(channel is null) and bool_or(is_mature) and not bool_and(is_mature)
            and bool_or(booked_rate is null) and max(open) > 0 from marts.outreach_outcomes_daily""",
    "an order of stages": "select max(position) = 6 from marts.booking_funnel_stages",
    "tasks that were opened again": "select sum(reopened) > 0 from marts.staff_task_turnaround_daily",
    "long and short days": "select count(distinct hours) = 3 from meta.practice_days",
    "a report that was restated, in each measure": """
        select count(distinct mart || measure) = 3 + 5 from meta.report_revisions where reported <> now""",
    "long episodes": "select max(contacts) > 4 from marts.booking_requests",
    "every way to an appointment": """
        select count(distinct booked_via || attribution) >= 4 and bool_or(booked_via is null)
        from marts.appointments""",
    "recovered callers and weeks that are over": """
        select max(recovered_within_7_days) > 0 and bool_or(is_final)
        from marts.practice_weekly""",
}
"""A comparison is only useful if the difficult cases occur."""


@pytest.mark.parametrize("case", OCCURS)
def test_a_difficult_case_occurs(case: str, query: Query) -> None:
    assert query(OCCURS[case]) == [(True,)]
