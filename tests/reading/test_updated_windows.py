"""Lists filtered by `updated_at`, read from a model source that may move between any two requests.

Servers whose ranges end at the midnight of the current date unless an end that works is sent.
"""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import given, settings, strategies as st
from support.examples import examples
from support.model_driver import each_list, paged, ranged, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.errors import TooSlow
from vetl.core.list_read import Reconcile
from vetl.core.pages import Page
from vetl.core.steps import ReadPage
from vetl.endpoints import BOOKING_SESSIONS


def filled(seed: int, kind: Manners, rows: int) -> tuple[ModelSource, ModelStore]:
    rng, first = Random(seed), datetime(2026, 2, 21, tzinfo=UTC)
    source = ModelSource(rng, kind)
    for _ in range(rows):
        source.add(first + (START - first) * rng.random(), status=rng.choice(["active", "completed", "abandoned"]))
    return source, ModelStore()


def test_an_earlier_start_of_history_reads_the_missing_time() -> None:
    source, store = filled(4, Manners(), 30)
    source.add(datetime(2026, 1, 5, tzinfo=UTC), status="completed")
    sync(BOOKING_SESSIONS, source, store)
    assert len(store.rows) == 30

    sync(BOOKING_SESSIONS, source, store, history_start=date(2026, 1, 1))

    assert source.rows == store.rows


def test_after_the_sources_clock_was_set_back_it_is_read_again_from_there() -> None:
    source, store = filled(8, Manners(), 20)
    sync(BOOKING_SESSIONS, source, store)
    source.now -= timedelta(hours=20)
    for _ in range(4):
        sync(BOOKING_SESSIONS, source, store)
        source.now += timedelta(minutes=30)
        source.add(status="completed")
        source.now += timedelta(hours=2)

    sync_whole(BOOKING_SESSIONS, source, store)


from_one_or_zero = st.builds(Manners, page_base=st.sampled_from([0, 1]), refuses_beyond_end=st.booleans())


@given(seed=st.integers(0, 2**32), kind=from_one_or_zero, rows=st.integers(10, 60))
def test_a_page_base_that_was_learnt_wrongly_costs_no_row(seed: int, kind: Manners, rows: int) -> None:
    """With a base too high the first page is empty or refused; with a base too low a page is read twice."""
    source, store = filled(seed, kind, rows)
    store.capabilities = {**paged(base=1 - kind.page_base, size=100), **ranged()}

    sync_whole(BOOKING_SESSIONS, source, store)


@given(seed=st.integers(0, 2**32), deepest=st.integers(1, 3), rows=st.integers(20, 90))
def test_a_list_that_cannot_be_paged_deep_is_read_in_narrower_windows(seed: int, deepest: int, rows: int) -> None:
    source, store = filled(seed, Manners(deepest=deepest), rows)

    sync_whole(BOOKING_SESSIONS, source, store)


@settings(max_examples=examples(20))
@given(seed=st.integers(0, 2**32), rows=st.integers(4, 40))
def test_a_row_that_just_changed_is_stored_even_if_no_order_is_stable(seed: int, rows: int) -> None:
    rng = Random(seed)
    source, store = ModelSource(rng, Manners(order="shuffled", largest_page=3)), ModelStore()
    for _ in range(rows):
        source.add(START - timedelta(seconds=rng.random() * 50), status="completed")

    sync(BOOKING_SESSIONS, source, store)

    assert source.rows == store.rows


@pytest.mark.parametrize("default", ["active", "completed", "abandoned"])
@pytest.mark.parametrize("names", [QueryNames(), QueryNames(start="from", status="statusFilter")])
def test_a_list_that_hides_rows_unless_a_status_is_requested_is_read_by_status(
    default: str, names: QueryNames
) -> None:
    """The contract does not show which statuses a list without a status has."""
    source, store = filled(5, Manners(default_status=default, names=names), 60)

    for reconcile in ("no", "no", "full", "full"):
        sync_whole(BOOKING_SESSIONS, source, store, reconcile=reconcile)
        source.now += timedelta(hours=1)
        active = [identity for identity, row in source.rows.items() if row["status"] == "active"]
        source.touch(active[0], status="completed")
        source.add(source.now, status="abandoned")
        if reconcile == "full":
            source.remove(active[1])


def test_as_many_rows_of_an_unknown_status_as_are_hidden_hide_none() -> None:
    """The totals by status then add up to that of the list without one."""
    source = ModelSource(Random(5), Manners(hidden_status="abandoned"))
    statuses = ("active", "completed", "abandoned", "expired")
    source, store = source.fill(40, START - timedelta(days=9), timedelta(hours=5), *statuses), ModelStore()

    for reconcile in ("no", "no", "full"):
        sync_whole(BOOKING_SESSIONS, source, store, reconcile=reconcile)


@pytest.mark.parametrize("order", ["updated_asc", "shuffled"])
def test_hidden_rows_are_found_although_the_days_around_them_fill_many_pages(
    order: Literal["updated_asc", "shuffled"],
) -> None:
    """The server compares whole days, so no range of a page proves that a row is hidden."""
    source, store = filled(9, Manners(default_status="active", bounds="day", order=order, largest_page=5), 200)

    for reconcile in ("no", "no", "full"):
        sync_whole(BOOKING_SESSIONS, source, store, reconcile=reconcile)
        source.now += timedelta(hours=1)
        source.add(source.now, status="abandoned")


def test_rows_that_are_hidden_from_an_empty_list_are_found_when_they_come() -> None:
    source, store = ModelSource(Random(7), Manners(default_status="active")), ModelStore()
    assert sync(BOOKING_SESSIONS, source, store).certified

    for status in ("completed", "active", "abandoned"):
        source.now += timedelta(hours=1)
        source.add(source.now, status=status)
        sync_whole(BOOKING_SESSIONS, source, store)


def test_a_server_that_stops_hiding_rows_is_read_by_windows_again() -> None:
    source, store = filled(6, Manners(default_status="active"), 60)
    assert sync(BOOKING_SESSIONS, source, store).certified

    source.manners = Manners()
    requests: list[int] = []
    for _ in range(3):
        source.now += timedelta(hours=1)
        source.add(source.now, status="completed")
        before = source.requests
        sync_whole(BOOKING_SESSIONS, source, store)
        requests.append(source.requests - before)
    assert requests[-1] < 60 // 5, "the last sync read new rows alone"


def test_a_session_that_expired_is_not_missing_if_no_session_is_found_by_its_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, store = filled(6, Manners(), 30)
    sync(BOOKING_SESSIONS, source, store)
    active = next(identity for identity, row in source.rows.items() if row["status"] == "active")
    source.retell(active, status="abandoned")
    with monkeypatch.context() as patch:
        patch.setattr(source, "record", dict[str, Any]().get)

        outcome = sync(BOOKING_SESSIONS, source, store)

    assert "no row is found by its id (1 requested)" in outcome.reason
    assert not outcome.certified
    assert store.missing == set()

    sync_whole(BOOKING_SESSIONS, source, store)


LISTS = each_list("booking_sessions", "appointments")


@LISTS
@pytest.mark.parametrize("refused", ["days", "instants"])
@pytest.mark.parametrize("bounds", ["instant", "day"])
@pytest.mark.parametrize("rows", [0, 3, 60])
@pytest.mark.parametrize("default_end", ["none", "strict midnight"])
def test_a_server_that_accepts_no_bound_in_the_future_is_read(
    endpoint: Endpoint,
    refused: Literal["days", "instants"],
    bounds: Literal["instant", "day"],
    rows: int,
    default_end: Literal["none", "strict midnight"],
) -> None:
    source, store = filled(2, Manners(refuses_future=refused, bounds=bounds, default_end=default_end), rows)

    for reconcile in ("no", "no", "full"):
        sync_whole(endpoint, source, store, reconcile=reconcile)
        source.now += timedelta(hours=1)
        source.add(status="completed")
        source.now += timedelta(seconds=2)  # an end is a whole second


@LISTS
def test_a_server_that_accepts_no_bound_in_the_future_is_read_by_what_changed(endpoint: Endpoint) -> None:
    source, store = filled(2, Manners(refuses_future="instants", largest_page=25), 300)
    sync_whole(endpoint, source, store)
    source.now += timedelta(hours=1)
    source.add(status="completed")
    source.now += timedelta(seconds=2)
    before = source.requests

    sync_whole(endpoint, source, store)

    assert source.requests - before < 15


@LISTS
@pytest.mark.parametrize("refused", ["days", "instants"])
@pytest.mark.parametrize("bounds", ["instant", "day"])
@pytest.mark.parametrize("default_end", ["none", "midnight"])
def test_a_deleted_row_is_found_if_the_list_without_an_end_shows_the_latest_rows(
    endpoint: Endpoint,
    refused: Literal["days", "instants"],
    bounds: Literal["instant", "day"],
    default_end: Literal["none", "midnight"],
) -> None:
    source, store = filled(2, Manners(refuses_future=refused, bounds=bounds, default_end=default_end), 60)
    for _ in range(2):
        source.now = source.now.replace(minute=7)
        source.add(source.now - timedelta(minutes=4), status="completed")
        sync(endpoint, source, store)
        source.now += timedelta(hours=1)
    kept = dict(store.rows)
    source.remove(next(iter(source.rows)))

    outcome = sync(endpoint, source, store, reconcile="full")

    is_found = default_end == "none" or endpoint is BOOKING_SESSIONS
    assert store.rows == (source.rows if is_found else kept)
    assert is_found == (not any("deletions are not marked" in note for note in outcome.notes))


@LISTS
def test_rows_of_today_are_here_at_once_if_no_day_to_come_is_accepted(endpoint: Endpoint) -> None:
    """The list without an end ends at the last midnight."""
    manners = Manners(refuses="instants", refuses_future="days", bounds="day", default_end="midnight")
    source, store = filled(2, manners, 60)

    for _ in range(2):
        sync(endpoint, source, store)
        assert store.rows == source.rows
        source.now += timedelta(hours=1)
        source.add(status="completed")


@LISTS
@pytest.mark.parametrize("most_days", [7, 10, 31, 92])
@pytest.mark.parametrize("bounds", ["instant", "day"])
@pytest.mark.parametrize("refuses", [None, "instants"])
@pytest.mark.parametrize("rows", [3, 300])
def test_a_server_that_limits_the_length_of_a_range_is_read_part_by_part(
    endpoint: Endpoint,
    most_days: int,
    bounds: Literal["instant", "day"],
    refuses: Literal["instants"] | None,
    rows: int,
) -> None:
    manners = Manners(most_days=most_days, bounds=bounds, refuses=refuses, largest_page=25)
    source, store = ModelSource(Random(5), manners), ModelStore()
    source.fill(
        rows, datetime(2025, 6, 1, 9, tzinfo=UTC), (START - datetime(2025, 6, 2, tzinfo=UTC)) / rows, "completed"
    )
    since = date(2025, 6, 1)
    before = 0
    for _ in range(3):  # the second one may decide what the first could not, without a recent row
        before = source.requests
        sync_whole(endpoint, source, store, history_start=since)
        source.now += timedelta(hours=1)
        source.add(status="completed")
    assert source.requests - before < 20
    source.remove(next(iter(source.rows)))

    sync_whole(endpoint, source, store, history_start=since, reconcile="full")


def filled_for_months(manners: Manners) -> tuple[ModelSource, ModelStore, date]:
    """Return a row every ten hours, an empty store, and the first day."""
    source, first = ModelSource(Random(5), manners), START - timedelta(days=150)
    return (
        source.fill(360, first + timedelta(hours=1), timedelta(hours=10), "completed"),
        ModelStore(),
        first.date(),
    )


@LISTS
@pytest.mark.parametrize("most_days", [1, 2, 3, 5])
def test_a_limit_of_a_day_is_kept(endpoint: Endpoint, most_days: int) -> None:
    source, store, since = filled_for_months(Manners(most_days=most_days, largest_page=25))

    for _ in range(2):
        sync_whole(endpoint, source, store, history_start=since)
        source.now += timedelta(hours=1)
        source.add(status="completed")
    source.remove(next(iter(source.rows)))
    sync_whole(endpoint, source, store, history_start=since, reconcile="full")


@LISTS
@pytest.mark.parametrize("days", [20, 2])
def test_ranges_that_a_gateway_does_not_wait_for_are_shortened(endpoint: Endpoint, days: int) -> None:
    """So they are if the platform has become slow since the first sync."""
    manners = Manners(most_days=days, too_long=TooSlow("504"), largest_page=25)
    for first in (manners, Manners(largest_page=25)):
        source, store, since = filled_for_months(first)
        for reconcile in ("no", "recent", "full"):
            sync_whole(endpoint, source, store, history_start=since, reconcile=reconcile)
            source.manners = manners
            source.now += timedelta(hours=1)
            source.add(status="completed")


@LISTS
@pytest.mark.parametrize("largest_page", [25, 1000])
def test_a_row_on_which_the_platform_fails_leaves_out_half_a_day(endpoint: Endpoint, largest_page: int) -> None:
    """If it is on the first page of the list, not even the names of the parameters can be proven."""
    source, store, since = filled_for_months(Manners(largest_page=largest_page))
    for _ in range(3):
        source.add(status="completed")
    source.broken = sorted(source.rows)[180]

    for _ in range(2):
        outcome = sync(endpoint, source, store, history_start=since)

        assert not outcome.certified
        assert outcome.reason.endswith(": 500")
        assert 0 < len(source.rows.keys() - store.rows.keys()) <= 3
        source.now += timedelta(hours=1)
        source.add(status="completed")
    source.broken = None
    sync_whole(endpoint, source, store, history_start=since)


@LISTS
def test_a_gateway_that_waits_for_nothing_is_not_asked_part_by_part(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, store, since = filled_for_months(Manners(largest_page=25))
    sync_whole(endpoint, source, store, history_start=since)
    asked: list[Any] = []

    def page(step: ReadPage) -> Page:
        asked.append(step)
        raise TooSlow("504")

    monkeypatch.setattr(source, "page", page)

    with pytest.raises(TooSlow):
        sync(endpoint, source, store, history_start=since, reconcile="recent")

    assert len(asked) < 10


@LISTS
def test_the_part_of_history_that_a_server_refuses_is_named(endpoint: Endpoint) -> None:
    source, store = filled(2, Manners(most_days=31, oldest_days=40), 60)

    outcome = sync(endpoint, source, store, history_start=date(2025, 12, 1))

    assert not outcome.certified
    assert "2025-12-01 to 2025-12-13: " in outcome.reason
    assert "too old; may history_start be later?" in outcome.reason
    assert store.rows == source.rows
    sync_whole(endpoint, source, store, history_start=date(2026, 2, 15))


@LISTS
@pytest.mark.parametrize("reconcile", ["recent", "full"])
def test_a_row_that_was_never_changed_and_is_deleted_is_found(endpoint: Endpoint, reconcile: Reconcile) -> None:
    """It may have no `updated_at`, and be in the range of its creation."""
    source, store = filled(3, Manners(order="id"), 30)
    identity = next(iter(source.rows))
    source.retell(identity, updated_at=None)
    sync_whole(endpoint, source, store)
    source.now += timedelta(hours=1)
    source.remove(identity)

    sync_whole(endpoint, source, store, reconcile=reconcile)


NO_START = QueryNames(start="commencing")
NO_END = QueryNames(end="closing")
NEITHER = QueryNames(start="commencing", end="closing")
ONE_OF_TWO_PAIRS = QueryNames(start="from", end="until")


def every_five_hours(names: QueryNames, rows: int = 60) -> ModelSource:
    """Return a row every five hours, the newest of them today."""
    source = ModelSource(Random(1), Manners(names=names, default_end="midnight", largest_page=7))
    first = START - timedelta(hours=5 * rows, minutes=-100, seconds=7)
    return source.fill(rows, first, timedelta(hours=5), "completed")


@LISTS
@pytest.mark.parametrize("names", [NO_END, NEITHER], ids=["no end", "neither"])
def test_without_one_nothing_is_certified_through_hidden_rows_and_nothing_is_deleted(
    endpoint: Endpoint, names: QueryNames
) -> None:
    source, store = every_five_hours(names), ModelStore()
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
    source, store = every_five_hours(NO_END), ModelStore()
    sync(BOOKING_SESSIONS, source, store)
    newest = max(store.rows, key=lambda identity: store.rows[identity]["updated_at"])
    source.remove(newest)

    sync(BOOKING_SESSIONS, source, store, reconcile="full")

    assert store.missing == {newest}


@LISTS
def test_a_row_from_before_the_oldest_of_a_list_without_a_start_is_not_deleted(endpoint: Endpoint) -> None:
    """The server may show recent rows only, and the name of its start is unknown."""
    source, store = every_five_hours(NO_START), ModelStore()
    source.manners = replace(source.manners, most_days=20)
    sync_whole(endpoint, source, store)
    source.now += timedelta(days=15)
    source.add(status="completed")
    gone = list(source.rows)[-4]
    source.remove(gone)

    for reconcile in ("no", "full"):
        outcome = sync(endpoint, source, store, reconcile=reconcile)

        assert any("older rows than its oldest, of 2026-02-2" in note for note in outcome.notes)
        assert store.missing == {gone}


@LISTS
@pytest.mark.parametrize("refuses", [None, "instants", "days"])
@pytest.mark.parametrize("names", [QueryNames(), ONE_OF_TWO_PAIRS], ids=["as configured", "of two pairs"])
def test_a_start_without_effect_is_sent_if_the_list_is_refused_without_it(
    endpoint: Endpoint, names: QueryNames, refuses: Literal["instants", "days"] | None
) -> None:
    source, store = every_five_hours(names), ModelStore()
    source.manners = replace(source.manners, start="required, ignored", refuses=refuses)

    for _ in range(2):
        outcome = sync_whole(endpoint, source, store)

        assert any("the date range is ignored" in note for note in outcome.notes)


@LISTS
def test_an_end_that_is_taken_as_a_day_only_is_found_also_without_a_start(endpoint: Endpoint) -> None:
    source, store = every_five_hours(NO_START), ModelStore()
    source.manners = replace(source.manners, refuses="instants")

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
    source, store = every_five_hours(ONE_OF_TWO_PAIRS), ModelStore()

    outcome = sync_whole(endpoint, source, store, names=QueryNames(start="begin", end="end_date"))
    assert any('start = "begin" in vetl.toml is not honoured, "from" is' in note for note in outcome.notes)


@LISTS
def test_a_full_reconcile_learns_the_server_again(endpoint: Endpoint) -> None:
    """The server has changed its names; the stored names are wrong, and none of them is believed."""
    source, store = every_five_hours(QueryNames()), ModelStore()
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
    source, store = every_five_hours(QueryNames()), ModelStore()
    sync(endpoint, source, store)
    source.manners = replace(source.manners, names=ONE_OF_TWO_PAIRS, order="updated_desc")
    source.now += timedelta(days=2)
    source.add(status="completed")
    source.now += timedelta(hours=1)

    sync_whole(endpoint, source, store)
    assert store.capabilities["start"]["name"] == "from"
