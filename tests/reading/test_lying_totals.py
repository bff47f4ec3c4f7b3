"""Servers with false totals: never a false certificate, all available rows, a bounded number of requests."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.model_driver import each_list, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint
from vetl.endpoints import by_name
from vetl.endpoints.booking_sessions import BOOKING_SESSIONS
from vetl.reading import certified, paging

STATUSES = {
    "booking_sessions": ("active", "completed"),
    "ai_outbound": ("received", "completed"),
    "staff_tasks": ("pending", "completed"),
}
LIES: tuple[Literal["too high", "too low", "capped", "unfiltered"], ...] = (
    "too high", "too low", "capped", "unfiltered",
)  # fmt: skip


def filled(endpoint: Endpoint, rng: Random, manners: Manners, rows: int) -> ModelSource:
    first = datetime(2026, 2, 21, tzinfo=UTC)
    apart = (START - timedelta(hours=1) - first) / max(1, rows)
    return ModelSource(rng, manners).fill(rows, first, apart, *STATUSES[endpoint.name])


@given(
    endpoint=st.sampled_from(list(STATUSES)).map(by_name),
    lie=st.sampled_from(LIES),
    rows=st.integers(0, 90),
    largest_page=st.sampled_from([3, 10, 100]),
    order=st.sampled_from(["created_desc", "updated_desc", "id"]),
)
def test_no_certificate_is_false_and_the_requests_are_bounded(
    endpoint: Endpoint, lie: Literal["too high"], rows: int, largest_page: int, order: Literal["id"]
) -> None:
    manners = Manners(total=lie, largest_page=largest_page, order=order)
    source, store = filled(endpoint, Random(1), manners, rows), ModelStore()

    outcome = sync(endpoint, source, store)

    if outcome.certified:
        assert source.rows == store.rows
    assert source.requests < 600 + 40 * rows


BILLIARD = f"total of {10**15}"


@each_list(*STATUSES)
@pytest.mark.parametrize(
    ("manners", "rows", "reason", "most"),
    [
        (Manners(total="too high", order="created_desc"), 47, "its own total of", 150),
        (Manners(total="too low", order="created_desc"), 47, "its own total of", 150),
        (Manners(total="huge", order="created_desc"), 47, BILLIARD, 150),
        (Manners(total="huge", order="id"), 47, BILLIARD, 150),
        (Manners(total="huge", order="created_desc", beyond="repeats"), 50, BILLIARD, 600),
        (Manners(total="huge", order="id", beyond="repeats"), 50, BILLIARD, 600),
    ],
)
def test_every_row_is_stored_in_few_requests_and_the_reason_names_the_total(
    endpoint: Endpoint, manners: Manners, rows: int, reason: str, most: int
) -> None:
    """If pages beyond the end repeat the last rows, no page contradicts its own total."""
    source, store = filled(endpoint, Random(1), manners, rows), ModelStore()

    outcome = sync(endpoint, source, store)

    assert source.rows == store.rows
    assert not outcome.certified
    assert reason in outcome.reason
    assert source.requests < most


@each_list(*STATUSES)
def test_a_server_that_never_runs_out_of_rows_is_read_to_an_end(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits here are a hundredth of the real ones."""
    monkeypatch.setattr(paging, "MOST_PAGES", 200)
    monkeypatch.setattr(certified, "MOST_READ", 10_000)
    manners = Manners(total="huge", beyond="invents", order="created_desc")
    source, store = filled(endpoint, Random(1), manners, 47), ModelStore()

    outcome = sync(endpoint, source, store)

    assert not outcome.certified
    assert source.requests < 30_000


def test_a_capped_total_is_found_by_looking_beyond_it() -> None:
    """Windows are split until their totals are under the cap; then they are certain after all."""
    source, store = filled(BOOKING_SESSIONS, Random(1), Manners(total="capped"), 90), ModelStore()

    sync_whole(BOOKING_SESSIONS, source, store)


def test_a_total_that_was_caught_lying_once_may_be_right_the_next_time() -> None:
    source, store = filled(BOOKING_SESSIONS, Random(1), Manners(total="too high"), 47), ModelStore()
    sync(BOOKING_SESSIONS, source, store)
    source.manners = replace(source.manners, total="true")

    sync_whole(BOOKING_SESSIONS, source, store)
