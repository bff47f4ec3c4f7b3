"""Every mart, cell by cell, over random rows, compared with the definitions in plain Python.

`support.expected` has these definitions; `tests/e2e/test_marts_equal_truth.py` compares them with a platform's
truth.
"""

from itertools import chain

import duckdb
import pytest
from support.cells import Query
from support.dbt_build import Build
from support.episodes import Episode
from support.expected import EXPECTED, Mart, assert_mart_is_true
from support.expected.booking import stage_order
from support.expected.demand import episodes
from support.expected.overview import report_revisions
from support.expected.practice import practice_days
from support.expected.tasks import reopened
from support.mart_inputs import Known
from support.random_rows import PRACTICES, SOURCE_CLOCK, Tables


@pytest.fixture(scope="module")
def source(rows: Tables) -> Known:
    return Known(PRACTICES, SOURCE_CLOCK, rows)


@pytest.fixture(scope="module")
def booking_requests(source: Known) -> list[Episode]:
    return [episode for _, episode in episodes(source)]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_mart_equals_its_definition(name: str, source: Known, filled: Build) -> None:
    with duckdb.connect(filled.warehouse, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        cursor = connection.execute(f"select * from marts.{name}")
        columns = tuple(column[0] for column in cursor.description or ())
        assert_mart_is_true(name, Mart(columns, cursor.fetchall()), source)


def test_the_most_urgent_leak_comes_first(query: Query) -> None:
    places = query("select practice_id, urgency from marts.leak_list")

    assert sorted(places) == places
    assert max(place for _, place in places) > 5


def test_every_reason_not_to_call_occurs(query: Query) -> None:
    reasons = {why for (why,) in query("select distinct not_actionable_because from marts.leaks")}

    refusals = {"do_not_call", "pet_deceased"}
    answers = {"booked_since", "appointment_ahead", "open_task"}
    assert {None, "begun_by_practice", "anonymous", "followed_up"} | refusals | answers <= reasons


def test_nulls_both_maturities_and_empty_rates_occur(query: Query) -> None:
    """A comparison is only useful if the difficult cases occur; the tests below check that too."""
    extremes = query(
        "select count(*) filter (where day is null), count(*) filter (where is_mature),"
        " count(*) filter (where not is_mature), count(*) filter (where booked_rate is null),"
        " count(*) filter (where channel is null), max(failed_undispatched), max(open)"
        " from marts.outreach_outcomes_daily"
    )

    assert all(chain.from_iterable(extremes))


def test_stages_have_an_order_and_tasks_are_reopened(source: Known) -> None:
    assert len(stage_order(source)) == 4
    assert reopened(source)


def test_days_of_23_and_25_hours_and_restated_days_occur(source: Known) -> None:
    hours = {tuple(row)[3] for row in practice_days(source).values()}

    assert {23.0, 24.0, 25.0} == hours
    pairs = {tuple(row) for row in report_revisions(source).values()}
    assert {True, False, None} == {None if then is None else then != now for then, now in pairs}


def test_long_episodes_occur_and_callers_known_by_their_number_alone(booking_requests: list[Episode]) -> None:
    assert max(len(one.contacts) for one in booking_requests) > 4
    assert any(one.person.startswith("phone:") and len(one.contacts) > 1 for one in booking_requests)
    assert any(one.followed_up for one in booking_requests)
    assert {one.contacts[0].begun_by for one in booking_requests} == {"client", "practice"}


def test_every_way_to_an_appointment_occurs(booking_requests: list[Episode], query: Query) -> None:
    ways = {(one.booking.via, one.booking.attribution) for one in booking_requests if one.booking}
    inferred = {("call", "inferred"), ("outreach", "inferred")}
    exact = {("session", "exact"), ("outreach", "exact")}

    assert exact | inferred | {("other", "inferred")} <= ways
    shown = set(query("select distinct booked_via, attribution from marts.appointments"))
    assert exact | {("call", "inferred"), (None, None)} <= shown


def test_revisions_of_a_report_occur(query: Query) -> None:
    """Each of the measures changed on some day."""
    moved = query("select distinct mart, measure from marts.report_revisions where reported != now")

    assert len(moved) == 3 + 5


def test_callers_are_recovered_and_weeks_have_one_before(query: Query) -> None:
    (extremes,) = query(
        "select max(recovered_within_7_days), max(booked_within_7_days - recovered_within_7_days),"
        " max(previous_calls), count(*) filter (where is_final), count(*) filter (where is_small_sample)"
        " from marts.practice_weekly"
    )

    assert all(extremes), extremes
