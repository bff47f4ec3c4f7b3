"""The cost of a sync. A first one of a list takes at most twice the pages and 54 requests, for every server.

If the server follows the configuration, a list of 7 pages takes at most 16.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from support.model_driver import each_list, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint, QueryNames
from vetl.endpoints import AI_OUTBOUND, APPOINTMENTS, BOOKING_SESSIONS, STAFF_TASKS

RANGED = (BOOKING_SESSIONS, APPOINTMENTS)
LISTS = (*RANGED, AI_OUTBOUND, STAFF_TASKS)
OF_SEVEN_PAGES = {"booking_sessions": 16, "appointments": 12, "ai_outbound": 15, "staff_tasks": 12}
"""At most 17. If the seventh page is full, all but the outreach take one more, to see that it is the last."""
OTHER = QueryNames("updatedAtStart", "updatedAtEnd", "page[number]", "page[size]", "statusFilter")
"""The last of the names that are tried, of each parameter."""


def cost(endpoint: Endpoint, manners: Manners, rows: int, *, tied: bool = False) -> int:
    """Return the requests of the first sync, which must bring every row under a certificate."""
    source, store = ModelSource(Random(1), manners), ModelStore()
    for number in range(rows):
        apart = timedelta(days=3) if tied else timedelta(hours=5) + timedelta(days=10) * (rows - number) / rows
        source.add(START - apart, status="completed")
    sync_whole(endpoint, source, store)
    return source.requests


manners = st.builds(
    Manners,
    names=st.sampled_from([QueryNames(), QueryNames(start="from", end="to", page="page_number"), OTHER]),
    page_base=st.sampled_from([0, 1]),
    largest_page=st.sampled_from([3, 7, 25, 100]),
    bounds=st.sampled_from(["instant", "day"]),
    default_end=st.sampled_from(["none", "midnight"]),
    order=st.sampled_from(["updated_asc", "updated_desc", "created_desc", "id"]),
    refuses_beyond_end=st.booleans(),
    status_ignored=st.booleans(),
    echoes=st.booleans(),
)

FOREIGN = Manners(
    names=QueryNames(start="from", end="to", page="page_number"), page_base=1, largest_page=3, status_ignored=True
)
"""A server that costs most, with a list of two rows: each probe finds little to compare."""


@given(endpoint=st.sampled_from(LISTS), kind=manners, rows=st.sampled_from([0, 1, 2, 5, 13, 60, 200, 700]))
@example(BOOKING_SESSIONS, FOREIGN, 2)
@example(BOOKING_SESSIONS, replace(FOREIGN, names=OTHER, status_ignored=False), 2)
def test_it_is_twice_the_pages_and_54_requests_at_most(endpoint: Endpoint, kind: Manners, rows: int) -> None:
    """If each of five parameters has the last of the tried names, it takes fourteen more."""
    pages = -(-rows // kind.largest_page) or 1
    kind = kind if endpoint in RANGED else replace(kind, default_end="none")

    assert cost(endpoint, kind, rows) <= 2 * pages + (68 if kind.names == OTHER else 54)


@pytest.mark.parametrize("endpoint", RANGED)
def test_a_long_list_without_an_end_that_works_is_not_divided(endpoint: Endpoint) -> None:
    """Each part would reach to the present."""
    unknown_end = Manners(names=QueryNames(end="of_no_known_name"), largest_page=100)

    assert cost(endpoint, unknown_end, 9_000) <= 2 * 90 + 54


@each_list(*OF_SEVEN_PAGES)
def test_of_seven_pages_it_is_that_many(endpoint: Endpoint) -> None:
    usual = Manners(largest_page=100, order="created_desc")

    assert cost(endpoint, usual, 650) == OF_SEVEN_PAGES[endpoint.name]
    assert cost(endpoint, usual, 700) <= 17


@each_list(*OF_SEVEN_PAGES)
def test_tied_rows_that_change_places_are_proven_by_passes_that_are_united(endpoint: Endpoint) -> None:
    """260 rows of one time on pages of 7, in another order for each answer: a pass shows two thirds of them."""
    manners = Manners(largest_page=7, order="shuffled")

    assert cost(endpoint, manners, 260, tied=True) < 650


@pytest.mark.parametrize(
    ("endpoint", "order", "final", "requests"),
    [
        (BOOKING_SESSIONS, "updated_asc", ("completed", "abandoned"), 2),
        (AI_OUTBOUND, "created_desc", ("completed",), 7),
        (STAFF_TASKS, "id", ("completed",), 4),
    ],
)
def test_a_sync_without_changes_costs_the_same_at_any_length_of_history(
    endpoint: Endpoint, order: Any, final: Sequence[str], requests: int
) -> None:
    for rows in (300, 3000):
        source, store = ModelSource(Random(8), Manners(order=order, largest_page=100)), ModelStore()
        source.fill(rows, START - timedelta(days=14), timedelta(days=4) / rows, *final)
        for _ in range(2):  # the second requests the status
            sync(endpoint, source, store)
            source.now += timedelta(hours=1)
        before = source.requests

        sync(endpoint, source, store)

        assert source.requests - before == requests
