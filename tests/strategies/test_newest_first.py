"""Lists without a date filter, most recent first, read while requests run through their life."""

from datetime import UTC, datetime, timedelta
from random import Random

from support.model_driver import sync
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore

from pipelines.endpoints.ai_outbound import AI_OUTBOUND

LIFE = {"received": "queued", "queued": "in_progress", "in_progress": "completed"}


def filled(rng: Random, kind: Manners, rows: int) -> ModelSource:
    source = ModelSource(rng, kind)
    first = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(rows):
        at = first + (START - first) * number / max(1, rows)
        old = at < START - timedelta(days=4)
        source.add(at, status="completed" if old else rng.choice(list(LIFE)))
    return source


def test_a_request_open_for_long_is_got_by_id() -> None:
    rng = Random(6)
    source, store = filled(rng, Manners(order="created_desc", largest_page=100), 500), ModelStore()
    for row in source.rows.values():
        row["status"] = "completed"
    source.touch("r00003", status="in_progress")
    sync(AI_OUTBOUND, source, store)
    source.now += timedelta(days=30)
    sync(AI_OUTBOUND, source, store)
    source.touch("r00003", status="completed")

    outcome = sync(AI_OUTBOUND, source, store)

    assert source.rows == store.rows
    assert outcome.certified


def test_a_list_that_hides_final_requests_unless_asked_for_them_is_read_by_status() -> None:
    """The contract does not show which statuses a list without a status has."""
    rng = Random(7)
    source, store = filled(rng, Manners(order="created_desc", default_status="received"), 60), ModelStore()

    assert sync(AI_OUTBOUND, source, store).certified
    assert source.rows == store.rows
