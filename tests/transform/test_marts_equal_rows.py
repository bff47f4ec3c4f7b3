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
