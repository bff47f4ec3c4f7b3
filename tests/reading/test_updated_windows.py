"""Lists filtered by `updated_at`, read from a model source that may move between any two requests."""

from datetime import UTC, date, datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.model_driver import paged, ranged, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import QueryNames
from vetl.endpoints.booking_sessions import BOOKING_SESSIONS


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
