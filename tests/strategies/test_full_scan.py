"""Lists without a date filter and without a known order, read while tasks are finalised and reopened."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from support.learnt import paged
from support.model_driver import Driver
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore

from pipelines.core.errors import TornAnswer
from pipelines.core.reading import Outcome, Reading
from pipelines.endpoints.staff_tasks import STAFF_TASKS
from pipelines.strategies import plan

manners = st.builds(
    Manners,
    page_base=st.sampled_from([0, 1]),
    largest_page=st.sampled_from([3, 7, 100]),
    order=st.sampled_from(["updated_desc", "updated_asc", "created_desc", "id"]),
    status_ignored=st.booleans(),
    refuses_beyond_end=st.booleans(),
)


def sync(source: ModelSource, store: ModelStore, rng: Random) -> Outcome:
    reading = Reading(
        endpoint=STAFF_TASKS,
        names=STAFF_TASKS.names,
        now=source.now,
        time_zone=ZoneInfo("Europe/London"),
        history_start=date(2026, 1, 1),
        cursor=dict(store.cursor),
        capabilities=dict(store.capabilities),
    )
    return Driver(source, store, rng).run(plan(reading))


def filled(rng: Random, kind: Manners, rows: int) -> ModelSource:
    source = ModelSource(rng, kind)
    first = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(rows):
        source.add(first + (START - first) * number / rows, status=rng.choice(["pending", "completed"]))
    return source


def work(source: ModelSource, rng: Random) -> None:
    """One thing happens: a new task, one finalised, one reopened."""
    if not source.rows or rng.random() < 0.3:
        source.add(status="pending")
    else:
        source.touch(rng.choice(list(source.rows)), status=rng.choice(["pending", "completed", "canceled"]))


@given(seed=st.integers(0, 2**32), kind=manners, rows=st.integers(0, 60), pace=st.floats(0, 0.2))
def test_after_the_daily_read_everything_is_here(seed: int, kind: Manners, rows: int, pace: float) -> None:
    rng = Random(seed)
    source, store = filled(rng, kind, rows), ModelStore()
    for _ in range(3):
        source.move = lambda: work(source, rng) if rng.random() < pace and source.requests < 1500 else None
        with suppress(TornAnswer):  # the list outgrew its first page before its paging was known: next time
            sync(source, store, rng)
        source.move = lambda: None
        source.now += timedelta(hours=rng.randint(1, 60))
    source.now += timedelta(days=1)

    outcome = sync(source, store, rng)

    assert source.rows == store.rows
    assert outcome.certified


@given(seed=st.integers(0, 2**32), kind=manners, rows=st.integers(1, 60))
def test_a_change_of_status_is_noticed_at_the_next_sync(seed: int, kind: Manners, rows: int) -> None:
    rng = Random(seed)
    source, store = filled(rng, kind, rows), ModelStore()
    sync(source, store, rng)
    source.now += timedelta(minutes=30)
    identity = rng.choice(list(source.rows))
    status = {"pending": "completed", "completed": "pending"}[source.rows[identity]["status"]]
    source.touch(identity, status=status)

    outcome = sync(source, store, rng)

    assert source.rows == store.rows
    assert outcome.certified


def test_an_edit_to_a_final_task_is_noticed_at_once_where_the_list_is_newest_updated_first() -> None:
    rng = Random(7)
    source, store = filled(rng, Manners(order="updated_desc", largest_page=100), 300), ModelStore()
    source.touch("r00007")
    sync(source, store, rng)
    source.now += timedelta(hours=1)
    final = next(identity for identity, row in source.rows.items() if row["status"] == "completed")
    source.touch(final, title="edited")
    before = source.requests

    sync(source, store, rng)

    assert source.rows == store.rows
    assert source.requests - before == 4


def test_a_sync_without_changes_costs_the_same_at_any_length_of_history() -> None:
    costs: list[int] = []
    for rows in (300, 3000):
        rng = Random(8)
        source, store = filled(rng, Manners(order="id", largest_page=100), rows), ModelStore()
        for row in source.rows.values():
            row["status"] = "completed"
        for _ in range(2):  # the second asks for the status
            sync(source, store, rng)
            source.now += timedelta(hours=1)
        before = source.requests
        sync(source, store, rng)
        costs.append(source.requests - before)

    assert costs == [4, 4]


def test_a_page_base_that_was_learnt_wrongly_is_learnt_again() -> None:
    """As it may be where it was learnt while the list moved."""
    rng = Random(9)
    source, store = filled(rng, Manners(order="created_desc", largest_page=100), 30), ModelStore()
    store.capabilities = paged(base=1, size=100)

    outcome = sync(source, store, rng)

    assert source.rows == store.rows
    assert outcome.certified
    assert store.capabilities["page"]["base"] == 0


def test_a_list_that_cannot_be_paged_deep_is_not_certified_and_says_why() -> None:
    """It has no date filter, so there is no narrower window to read instead."""
    rng = Random(6)
    source, store = filled(rng, Manners(deepest=2), 60), ModelStore()

    outcome = sync(source, store, rng)

    assert not outcome.certified
    assert "page 3 is refused (400)" in outcome.reason
    assert len(store.rows) == 30
