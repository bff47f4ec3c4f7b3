"""Clients and patients, by the ids that other rows mention."""

from datetime import UTC, datetime, timedelta

import pytest
from support import model_driver
from support.model_people import Mentions, People

from pipelines.core.errors import Unreachable
from pipelines.core.list_read import Margins, Outcome, Reconcile
from pipelines.endpoints.clients import CLIENTS

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def sync(
    source: People, store: Mentions, at: datetime = NOW, reconcile: Reconcile = "no", budget: int = 100
) -> Outcome:
    margins = Margins(reference_budget=budget)
    return model_driver.sync(CLIENTS, source, store, now=at, margins=margins, reconcile=reconcile)


def test_a_full_reconcile_beyond_its_budget_says_so_and_the_next_goes_on() -> None:
    source, store = People("a", "b", "c"), Mentions("a", "b", "c")
    sync(source, store)
    for identity in source.rows:
        source.appear(identity)

    first = sync(source, store, NOW + timedelta(minutes=1), "full", budget=3)
    second = sync(source, store, NOW + timedelta(minutes=2), "full", budget=3)

    assert "the budget of 3 requests is used up" in first.notes[0]
    assert store.rows == source.rows
    assert second.certified


def test_a_row_of_another_id_than_was_asked_for_is_not_taken_in_and_the_list_is_uncertain() -> None:
    source, store = People("a", "b"), Mentions("a", "b")
    source.answers = {"b": [{"id": "b-17", "name": "b"}]}

    outcome = sync(source, store)

    assert not outcome.certified
    assert outcome.reason == "clients: 1 of 2 rows came back under another id than the requested one"
    assert set(store.rows) == {"a"}


def test_an_id_that_always_fails_keeps_no_other_row_from_the_store() -> None:
    source, store = People("a", "b"), Mentions("a", "b")
    source.answers = {"a": [Unreachable("GET clients/a: 500 Internal Server Error")]}

    with pytest.raises(Unreachable, match=r"500 .*; 1 of 2 ids could not be read, the others are stored"):
        sync(source, store)

    assert set(store.rows) == {"b"}
