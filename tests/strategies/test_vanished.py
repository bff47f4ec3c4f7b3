"""Rows that vanish at the source without a trace: a full reconcile finds them with a second read."""

from datetime import timedelta
from random import Random

import pytest
from support.model_driver import sync
from support.model_source import START, ModelSource
from support.model_store import ModelStore

from pipelines.core.endpoint import Endpoint
from pipelines.endpoints.ai_outbound import AI_OUTBOUND
from pipelines.endpoints.appointments import APPOINTMENTS
from pipelines.endpoints.booking_sessions import BOOKING_SESSIONS

LISTS = pytest.mark.parametrize(
    "endpoint", [APPOINTMENTS, BOOKING_SESSIONS, AI_OUTBOUND], ids=lambda item: item.name
)


def filled(rows: int) -> ModelSource:
    source = ModelSource(Random(5))
    source.manners.order = "created_desc"
    for number in range(rows):
        source.add(START - timedelta(days=9) + timedelta(hours=number), status="completed")
    source.now += timedelta(days=2)
    return source


@LISTS
@pytest.mark.parametrize("gone", [(0, 1, 2), (50,), (10, 80, 199)])
def test_a_reconcile_costs_one_request_more_for_each(endpoint: Endpoint, gone: tuple[int, ...]) -> None:
    source, store = filled(200), ModelStore()
    sync(endpoint, source, store)
    before = source.requests
    sync(endpoint, source, store, reconcile="full")
    undisturbed = source.requests - before
    for number in gone:
        del source.rows[f"r{number:05d}"]
    before = source.requests

    outcome = sync(endpoint, source, store, reconcile="full")

    assert outcome.certified
    assert store.rows == source.rows
    assert len(store.missing) == len(gone)
    assert source.requests - before <= undisturbed + len(gone) + 2


def test_if_most_rows_have_vanished_the_time_is_read_again_at_once() -> None:
    source, store = filled(200), ModelStore()
    sync(APPOINTMENTS, source, store)
    for number in range(0, 200, 2):
        del source.rows[f"r{number:05d}"]
    before = source.requests

    assert sync(APPOINTMENTS, source, store, reconcile="full").certified

    assert store.rows == source.rows
    assert source.requests - before < 60


def test_a_row_that_is_back_at_the_second_look_has_not_vanished() -> None:
    source, store = filled(40), ModelStore()
    sync(APPOINTMENTS, source, store)
    hidden, answers = source.rows.pop("r00007"), iter(range(10**6))
    back = 4

    def come_back() -> None:
        if next(answers) == back:
            source.rows["r00007"] = hidden

    source.move = come_back
    sync(APPOINTMENTS, source, store, reconcile="full")

    assert store.missing == set()
    assert "r00007" in store.rows
