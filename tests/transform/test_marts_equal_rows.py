"""Every mart, cell by cell, over random rows, against the definitions of the design worked out in plain Python.

`support.expected` is that reading; `tests/e2e/test_marts_equal_truth.py` holds it against a platform's truth.
"""

from itertools import chain

import duckdb
import pytest
from support.cells import Query
from support.dbt_build import Build
from support.demand import Episode
from support.expected import EXPECTED, Mart, assert_mart_is_true
from support.expected.booking import stage_order
from support.expected.demand import episodes
from support.expected.practice import practice_days
from support.expected.restatements import booking_funnel_restatements, booking_intent_restatements
from support.expected.tasks import reopened
from support.known import Known
from support.random_rows import PRACTICES, SOURCE_CLOCK, Tables


@pytest.fixture(scope="module")
def known(rows: Tables) -> Known:
    return Known(PRACTICES, SOURCE_CLOCK, rows)


@pytest.fixture(scope="module")
def wishes(known: Known) -> list[Episode]:
    return [episode for _, episode in episodes(known)]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_mart_equals_its_definition(name: str, known: Known, filled: Build) -> None:
    with duckdb.connect(filled.warehouse, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        cursor = connection.execute(f"select * from marts.{name}")
        columns = tuple(column[0] for column in cursor.description or ())
        assert_mart_is_true(name, Mart(columns, cursor.fetchall()), known)


def test_the_newest_leak_comes_first(query: Query) -> None:
    times = [at for (at,) in query("select last_at from marts.leak_list")]

    assert sorted(times, reverse=True) == times


def test_nulls_both_maturities_and_empty_rates_occur(query: Query) -> None:
    """A comparison is worth something only where what is hard occurs; so are the tests below."""
    found = query(
        "select count(*) filter (where day is null), count(*) filter (where is_mature),"
        " count(*) filter (where not is_mature), count(*) filter (where booked_rate is null),"
        " count(*) filter (where channel is null), max(failed_undispatched), max(open)"
        " from marts.outreach_outcomes_daily"
    )

    assert all(chain.from_iterable(found))


def test_stages_have_an_order_and_tasks_are_reopened(known: Known) -> None:
    assert len(stage_order(known)) == 4
    assert reopened(known)


def test_days_of_23_and_25_hours_and_restated_days_occur(known: Known) -> None:
    hours = {tuple(row)[3] for row in practice_days(known).values()}

    assert {23.0, 24.0, 25.0} == hours
    for restatements in (booking_intent_restatements, booking_funnel_restatements):
        assert {True, False, None} == {tuple(row)[-1] for row in restatements(known).values()}


def test_long_episodes_occur_and_callers_known_by_their_number_alone(wishes: list[Episode]) -> None:
    assert max(len(one.contacts) for one in wishes) > 5
    assert any(one.party.startswith("phone:") and len(one.contacts) > 1 for one in wishes)
    assert any(one.followed_up for one in wishes)


def test_every_way_to_an_appointment_occurs(wishes: list[Episode], query: Query) -> None:
    ways = {(one.booking.via, one.booking.attribution) for one in wishes if one.booking}
    inferred = {("call", "inferred"), ("outreach", "inferred")}
    exact = {("session", "exact"), ("outreach", "exact")}

    assert exact | inferred | {("other", "inferred")} <= ways
    found = set(query("select distinct booked_via, attribution from marts.appointments"))
    assert exact | {("call", "inferred"), (None, None)} <= found


def test_a_median_of_a_group_is_no_mean_of_medians(query: Query) -> None:
    """What a roll-up of daily marts would say."""
    (differing,) = query(
        "with means as (select group_name, day, task_type, avg(median_hours_to_finalize) as mean"
        " from marts.staff_task_turnaround_daily join marts.practices using (practice_id) group by all)"
        " select count(*) from means"
        " join marts.staff_task_turnaround_by_group as roll_up using (group_name, day, task_type)"
        " where abs(mean - median_hours_to_finalize) > 0.01"
    )

    assert differing > (10,)


def test_a_group_without_a_row_and_a_practice_without_a_group_are_in_no_rollup(query: Query) -> None:
    marts = [
        name for (name,) in query("select table_name from duckdb_tables() where table_name like '%_by_group'")
    ]

    assert len(marts) == 7
    for mart in marts:
        assert query(f"select distinct group_name from marts.{mart}") == [("coast",)]


def test_a_report_told_other_numbers(query: Query) -> None:
    """Each of the five numbers of a day's sessions moved on some day."""
    names = ["sessions", "completed", "abandoned", "active", "with_appointment"]
    moved = [f"count(*) filter (where {name}_then != {name})" for name in names]
    (found,) = query(f"select {', '.join(moved)} from marts.booking_funnel_restatements")

    assert all(found), found
