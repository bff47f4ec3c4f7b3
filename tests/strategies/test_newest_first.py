"""Lists without a date filter, most recent first, read while requests run through their life."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from support.model_driver import Driver
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore

from pipelines.core.errors import TornAnswer
from pipelines.core.reading import Outcome, Reading
from pipelines.endpoints.ai_outbound import AI_OUTBOUND
from pipelines.strategies import plan

LIFE = {"received": "queued", "queued": "in_progress", "in_progress": "completed"}

manners = st.builds(
    Manners,
    page_base=st.sampled_from([0, 1]),
    largest_page=st.sampled_from([3, 7, 100]),
    order=st.sampled_from(["created_desc", "created_desc", "id"]),
    status_ignored=st.booleans(),
    refuses_beyond_end=st.booleans(),
)


def sync(source: ModelSource, store: ModelStore, rng: Random) -> Outcome:
    reading = Reading(
        endpoint=AI_OUTBOUND,
        names=AI_OUTBOUND.names,
        now=source.now,
        time_zone=ZoneInfo("America/Chicago"),
        history_start=date(2025, 3, 1),
        cursor=dict(store.cursor),
        capabilities=dict(store.capabilities),
    )
    return Driver(source, store, rng).run(plan(reading))


def filled(rng: Random, kind: Manners, rows: int) -> ModelSource:
    source = ModelSource(rng, kind)
    first = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(rows):
        at = first + (START - first) * number / max(1, rows)
        old = at < START - timedelta(days=4)
        source.add(at, status="completed" if old else rng.choice(list(LIFE)))
    return source


def live(source: ModelSource, rng: Random) -> None:
    """One thing happens: a new request, or one moves on."""
    still = [identity for identity, row in source.rows.items() if row["status"] in LIFE]
    if still and rng.random() < 0.6:
        identity = rng.choice(still)
        source.touch(identity, status=LIFE[source.rows[identity]["status"]])
    else:
        source.add(status="received")


@given(seed=st.integers(0, 2**32), kind=manners, rows=st.integers(0, 60), pace=st.floats(0, 0.3))
def test_at_rest_everything_is_here_whatever_happened_between(
    seed: int, kind: Manners, rows: int, pace: float
) -> None:
    rng = Random(seed)
    source, store = filled(rng, kind, rows), ModelStore()
    for _ in range(3):
        source.move = lambda: live(source, rng) if rng.random() < pace and source.requests < 1500 else None
        with suppress(TornAnswer):  # the list outgrew its first page before its paging was known: next time
            sync(source, store, rng)
        source.move = lambda: None
        source.now += timedelta(hours=rng.randint(1, 400))
        for _ in range(rng.randint(0, 12)):
            live(source, rng)
            source.now += timedelta(hours=1)

    outcome = sync(source, store, rng)

    assert source.rows == store.rows
    assert outcome.certified


def test_a_sync_without_changes_costs_the_same_at_any_length_of_history() -> None:
    costs: list[int] = []
    for rows in (300, 3000):
        rng = Random(5)
        source, store = filled(rng, Manners(order="created_desc", largest_page=100), rows), ModelStore()
        for row in source.rows.values():
            row["status"] = "completed"
        source.now += timedelta(days=10)
        sync(source, store, rng)
        before = source.requests
        sync(source, store, rng)
        costs.append(source.requests - before)

    assert costs == [7, 7]


def test_a_request_open_for_long_is_got_by_id() -> None:
    rng = Random(6)
    source, store = filled(rng, Manners(order="created_desc", largest_page=100), 500), ModelStore()
    for row in source.rows.values():
        row["status"] = "completed"
    source.touch("r00003", status="in_progress")
    sync(source, store, rng)
    source.now += timedelta(days=30)
    sync(source, store, rng)
    source.touch("r00003", status="completed")

    outcome = sync(source, store, rng)

    assert source.rows == store.rows
    assert outcome.certified
