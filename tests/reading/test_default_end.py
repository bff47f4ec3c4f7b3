"""Servers whose ranges end at the midnight of the current date unless an end that works is sent.

Contract, Booking sessions and Appointments: the end "defaults to the current date".
"""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from support.model_driver import each_list, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint, QueryNames
from vetl.endpoints.booking_sessions import BOOKING_SESSIONS

LISTS = each_list("booking_sessions", "appointments")
NO_START = QueryNames(start="commencing")
NO_END = QueryNames(end="closing")
NEITHER = QueryNames(start="commencing", end="closing")
ONE_OF_TWO_PAIRS = QueryNames(start="from", end="until")


def filled(names: QueryNames, rows: int = 60) -> ModelSource:
    """Return a row every five hours, the newest of them today."""
    source = ModelSource(Random(1), Manners(names=names, default_end="midnight", largest_page=7))
    first = START - timedelta(hours=5 * rows, minutes=-100, seconds=7)
    return source.fill(rows, first, timedelta(hours=5), "completed")


@LISTS
@pytest.mark.parametrize("names", [NO_END, NEITHER], ids=["no end", "neither"])
def test_without_one_nothing_is_certified_through_hidden_rows_and_nothing_is_deleted(
    endpoint: Endpoint, names: QueryNames
) -> None:
    source, store = filled(names), ModelStore()
    before = sync(endpoint, source, store)
    hidden = set(source.rows) - set(store.rows)
    changed = next(iter(store.rows))
    source.touch(changed, status="active")

    during = sync(endpoint, source, store)
    sync(endpoint, source, store, reconcile="full")

    assert hidden
    assert before.certified
    assert during.certified
    for outcome in (before, during):
        assert outcome.through is not None
        assert outcome.through <= START - timedelta(hours=35)
        assert any("may be hidden" in note for note in outcome.notes)
    assert store.missing == set()
    assert changed in store.rows
    source.now += timedelta(days=2)
    sync_whole(endpoint, source, store)


def test_a_session_that_was_deleted_in_the_hours_that_may_be_hidden_is_found_by_its_id() -> None:
    source, store = filled(NO_END), ModelStore()
    sync(BOOKING_SESSIONS, source, store)
    newest = max(store.rows, key=lambda identity: store.rows[identity]["updated_at"])
    source.remove(newest)

    sync(BOOKING_SESSIONS, source, store, reconcile="full")

    assert store.missing == {newest}


@LISTS
@pytest.mark.parametrize("refuses_datetimes", [False, True], ids=["instants", "days"])
@pytest.mark.parametrize("names", [QueryNames(), ONE_OF_TWO_PAIRS], ids=["as configured", "of two pairs"])
def test_a_start_without_effect_is_sent_if_the_list_is_refused_without_it(
    endpoint: Endpoint, names: QueryNames, *, refuses_datetimes: bool
) -> None:
    source, store = filled(names), ModelStore()
    source.manners = replace(source.manners, start="required, ignored", refuses_datetimes=refuses_datetimes)

    for _ in range(2):
        outcome = sync_whole(endpoint, source, store)

        assert any("the date range is ignored" in note for note in outcome.notes)


@LISTS
def test_an_end_that_is_taken_as_a_day_only_is_found_also_without_a_start(endpoint: Endpoint) -> None:
    source, store = filled(NO_START), ModelStore()
    source.manners = replace(source.manners, refuses_datetimes=True)

    for _ in range(2):
        outcome = sync_whole(endpoint, source, store)

        assert outcome.through is not None
        assert outcome.through > START - timedelta(minutes=1)


@LISTS
def test_names_that_were_guessed_on_an_empty_list_are_not_kept_against_the_settings(endpoint: Endpoint) -> None:
    source, store = ModelSource(Random(1), Manners(names=ONE_OF_TWO_PAIRS, default_end="midnight")), ModelStore()
    sync(endpoint, source, store)
    source.manners = replace(source.manners, names=QueryNames(start="mine", end="ours"))
    source.fill(9, START - timedelta(hours=1), -timedelta(hours=4), "completed")

    outcome = sync_whole(endpoint, source, store, names=QueryNames(start="mine", end="ours"))

    assert outcome.notes == ()


@LISTS
def test_a_name_in_the_settings_that_is_not_honoured_is_said(endpoint: Endpoint) -> None:
    source, store = filled(ONE_OF_TWO_PAIRS), ModelStore()

    outcome = sync_whole(endpoint, source, store, names=QueryNames(start="begin", end="end_date"))
    assert any('start = "begin" in vetl.toml is not honoured, "from" is' in note for note in outcome.notes)


@LISTS
def test_a_full_reconcile_learns_the_server_again(endpoint: Endpoint) -> None:
    """The server has changed its names; the stored names are wrong, and none of them is believed."""
    source, store = filled(QueryNames()), ModelStore()
    sync(endpoint, source, store)
    source.manners = replace(source.manners, names=ONE_OF_TWO_PAIRS, page_base=1)
    source.now += timedelta(hours=3)
    source.add(status="completed")
    source.now += timedelta(hours=1)

    sync_whole(endpoint, source, store, reconcile="full")
    assert store.capabilities["end"]["name"] == "until"
    assert store.capabilities["page"]["base"] == 1


@LISTS
def test_a_range_that_is_not_honoured_any_more_is_noticed_by_the_rows_that_come(endpoint: Endpoint) -> None:
    source, store = filled(QueryNames()), ModelStore()
    sync(endpoint, source, store)
    source.manners = replace(source.manners, names=ONE_OF_TWO_PAIRS, order="updated_desc")
    source.now += timedelta(days=2)
    source.add(status="completed")
    source.now += timedelta(hours=1)

    sync_whole(endpoint, source, store)
    assert store.capabilities["start"]["name"] == "from"
