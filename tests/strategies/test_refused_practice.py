"""A practice that the platform refuses, at any request of a sync: nothing of it is certified after that."""

from datetime import timedelta
from random import Random

import pytest
from support.model_driver import sync
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore

from pipelines.core.endpoint import Endpoint
from pipelines.core.errors import PracticeRefused
from pipelines.endpoints import by_name

LISTS = pytest.mark.parametrize(
    "endpoint",
    [by_name(name) for name in ("booking_sessions", "appointments", "ai_outbound", "staff_tasks")],
    ids=lambda item: item.name,
)
STATUSES = ("active", "received", "pending", "completed")


class RefusedFrom(ModelSource):
    """Answers every request from a certain one on with a 403."""

    first_refused: int | None = None

    def _tick(self) -> None:
        super()._tick()
        if self.first_refused is not None and self.requests >= self.first_refused:
            raise PracticeRefused("403", status=403)


def followed(rows: int) -> tuple[RefusedFrom, ModelStore]:
    """Return a source, and an empty store. The last page is full, so that a pass looks beyond that page."""
    source = RefusedFrom(Random(3), Manners(order="updated_desc", largest_page=10))
    for number in range(rows):
        source.add(START - timedelta(days=9, hours=-5 * number), status=STATUSES[number % len(STATUSES)])
    return source, ModelStore()


def synced_twice(endpoint: Endpoint, first_refused: int | None) -> RefusedFrom:
    """Sync two times; in between, open rows leave their status without a trace."""
    source, store = followed(30)
    source.first_refused = first_refused
    assert sync(endpoint, source, store).certified
    for identity in list(source.rows)[::2]:
        source.retell(identity, status="completed")
    source.now += timedelta(hours=2)
    assert sync(endpoint, source, store).certified
    return source


@LISTS
def test_a_practice_that_is_refused_at_any_request_is_certified_in_nothing(endpoint: Endpoint) -> None:
    requests = synced_twice(endpoint, None).requests

    for number in range(1, requests + 1):
        with pytest.raises(PracticeRefused):
            synced_twice(endpoint, number)
