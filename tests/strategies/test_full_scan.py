"""Lists without a date filter and without a known order, read while tasks are completed and reopened."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal

import pytest
from support import model_source
from support.known_capabilities import paged
from support.model_driver import Driver, sync
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore

from pipelines.endpoints.staff_tasks import STAFF_TASKS
from pipelines.reading.conventions import QueryConventions, Saving
from pipelines.reading.following import MOST_KEPT, kept_bytes
from pipelines.reading.paging import read_pass
from pipelines.reading.whole_list import WHOLE, read_whole_list


def filled(rng: Random, kind: Manners, rows: int) -> ModelSource:
    source = ModelSource(rng, kind)
    first = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(rows):
        source.add(first + (START - first) * number / rows, status=rng.choice(["pending", "completed"]))
    return source


def test_an_edit_to_a_final_task_is_noticed_at_once_if_the_list_is_newest_updated_first() -> None:
    rng = Random(7)
    source, store = filled(rng, Manners(order="updated_desc", largest_page=100), 300), ModelStore()
    source.touch("r00007")
    sync(STAFF_TASKS, source, store)
    source.now += timedelta(hours=1)
    final = next(identity for identity, row in source.rows.items() if row["status"] == "completed")
    source.touch(final, title="edited")
    before = source.requests

    sync(STAFF_TASKS, source, store)

    assert source.rows == store.rows
    assert source.requests - before == 4


def test_a_page_base_that_was_learnt_wrongly_is_learnt_again() -> None:
    """This can happen if it was learnt while the list moved."""
    rng = Random(9)
    source, store = filled(rng, Manners(order="created_desc", largest_page=100), 30), ModelStore()
    store.capabilities = paged(base=1, size=100)

    outcome = sync(STAFF_TASKS, source, store)

    assert source.rows == store.rows
    assert outcome.certified
    assert store.capabilities["page"]["base"] == 0


@pytest.mark.parametrize("weight", [9_000_000, 500_000])
def test_rows_that_take_much_memory_are_saved_while_a_pass_goes_on(
    monkeypatch: pytest.MonkeyPatch, weight: int
) -> None:
    """The pass keeps ids and times of them, and rows of a few megabytes at most."""
    monkeypatch.setattr(model_source, "WEIGHTS", (weight,))
    rng = Random(5)
    source, store = filled(rng, Manners(order="id", largest_page=100), 6000), ModelStore()
    conventions = QueryConventions(STAFF_TASKS.names, saving=Saving())

    whole = Driver(source, store, rng).run(read_whole_list(conventions))

    assert whole.certified
    assert source.rows == store.rows
    assert kept_bytes(whole.last.pages) <= MOST_KEPT
    assert [set(row) <= {"id", "created_at", "updated_at"} for row in whole.last.evidence].count(False) <= 3_200


def test_rows_that_are_wanted_together_end_a_pass_that_takes_too_much_memory() -> None:
    rng = Random(4)
    source, store = filled(rng, Manners(largest_page=5), 300), ModelStore()

    done = Driver(source, store, rng).run(read_pass(QueryConventions(STAFF_TASKS.names), WHOLE))

    assert not done.whole
    assert done.finding == "its pages have more than 8 MiB"
    assert len(done.pages) < 20


def test_a_list_that_cannot_be_paged_deep_is_not_certified_and_says_why() -> None:
    """It has no date filter, so there is no narrower window to read instead."""
    rng = Random(6)
    source, store = filled(rng, Manners(deepest=2), 60), ModelStore()

    outcome = sync(STAFF_TASKS, source, store)

    assert not outcome.certified
    assert "page 3 is refused (400)" in outcome.reason
    assert len(store.rows) == 30


@pytest.mark.parametrize("order", ["id", "updated_desc"])
def test_a_list_that_hides_final_tasks_unless_asked_for_them_is_read_by_status(
    order: Literal["id", "updated_desc"],
) -> None:
    """The contract does not show which statuses a list without a status has."""
    rng = Random(11)
    source, store = filled(rng, Manners(order=order, default_status="pending"), 60), ModelStore()

    for _ in range(3):
        assert sync(STAFF_TASKS, source, store).certified
        assert source.rows == store.rows
        assert sync(STAFF_TASKS, source, store, reconcile="full").certified
        assert source.rows == store.rows
        source.now += timedelta(hours=1)
        opened = [identity for identity, row in source.rows.items() if row["status"] == "pending"]
        source.touch(opened[0], status="completed")
        source.touch(
            next(identity for identity, row in source.rows.items() if row["status"] == "completed"),
            status="pending",
        )
        source.add(status="canceled")
        source.remove(opened[1])


def test_a_list_that_hides_all_its_tasks_is_read_by_status() -> None:
    rng = Random(12)
    source, store = filled(rng, Manners(default_status="canceled"), 20), ModelStore()

    assert sync(STAFF_TASKS, source, store).certified
    assert source.rows == store.rows
