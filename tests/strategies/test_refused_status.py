"""Servers that refuse the status filter: vetl reads without it, and nothing is lost."""

from datetime import timedelta
from random import Random

import pytest
from support.model_driver import sync
from support.model_source import START, ModelSource
from support.model_store import ModelStore

from pipelines.core.endpoint import Endpoint
from pipelines.core.errors import RequestRefused
from pipelines.core.pages import Page
from pipelines.core.steps import ReadPage
from pipelines.endpoints.ai_outbound import AI_OUTBOUND
from pipelines.endpoints.booking_sessions import BOOKING_SESSIONS
from pipelines.endpoints.staff_tasks import STAFF_TASKS

OPEN = {"booking_sessions": "active", "ai_outbound": "received", "staff_tasks": "pending"}
LISTS = pytest.mark.parametrize(
    "endpoint", [BOOKING_SESSIONS, AI_OUTBOUND, STAFF_TASKS], ids=lambda item: item.name
)


class Refusing(ModelSource):
    def page(self, step: ReadPage) -> Page:
        if self.manners.names.status in step.query:
            self.requests += 1
            raise RequestRefused("status: unknown parameter", status=400)
        return super().page(step)


def filled(endpoint: Endpoint) -> Refusing:
    source = Refusing(Random(5))
    source.manners.order = "created_desc"
    for number in range(40):
        at = START - timedelta(days=9) + timedelta(hours=5 * number)
        source.add(at, status=OPEN[endpoint.name] if number % 3 == 0 else "completed")
    return source


@LISTS
def test_every_row_is_here_and_certified(endpoint: Endpoint) -> None:
    """So is a status that changes without a trace: a booking session expires without a change of `updated_at`."""
    source, store = filled(endpoint), ModelStore()

    for _ in range(2):
        outcome = sync(endpoint, source, store)

        assert outcome.certified
        assert source.rows == store.rows
        for identity, row in source.rows.items():
            source.rows[identity] = {**row, "status": "completed"}
        source.now += timedelta(hours=2)
