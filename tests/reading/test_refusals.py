"""Refusals: of a practice at any request, of the status filter, and of page 0 by servers that count from 1.

Nothing of a refused practice is certified after that; without the filter and page 0, vetl reads all the same.
"""

from datetime import timedelta
from random import Random

import pytest
from support.model_driver import each_list, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint
from vetl.core.errors import NotFound, PracticeRefused, RequestRefused, Unreachable, VetlError
from vetl.core.pages import Page
from vetl.core.steps import ReadPage

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
    return source.fill(rows, START - timedelta(days=9), timedelta(hours=5), *STATUSES), ModelStore()


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


@each_list("booking_sessions", "appointments", "ai_outbound", "staff_tasks")
def test_a_practice_that_is_refused_at_any_request_is_certified_in_nothing(endpoint: Endpoint) -> None:
    requests = synced_twice(endpoint, None).requests

    for number in range(1, requests + 1):
        with pytest.raises(PracticeRefused):
            synced_twice(endpoint, number)


OPEN = {"booking_sessions": "active", "ai_outbound": "received", "staff_tasks": "pending"}


class Refusing(ModelSource):
    def page(self, step: ReadPage) -> Page:
        if self.manners.names.status in step.query:
            self.requests += 1
            raise RequestRefused("status: unknown parameter", status=400)
        return super().page(step)


@each_list(*OPEN)
def test_every_row_is_here_and_certified(endpoint: Endpoint) -> None:
    """So is a status that changes without a trace: a booking session expires without a change of `updated_at`."""
    source, store = Refusing(Random(5), Manners(order="created_desc")), ModelStore()
    source.fill(40, START - timedelta(days=9), timedelta(hours=5), OPEN[endpoint.name], "completed", "completed")

    for _ in range(2):
        sync_whole(endpoint, source, store)
        for identity, row in source.rows.items():
            source.rows[identity] = {**row, "status": "completed"}
        source.now += timedelta(hours=2)


REFUSALS = [RequestRefused("400", status=400), NotFound("404", status=404), Unreachable("500")]


class FromOne(ModelSource):
    before: VetlError = REFUSALS[0]

    def page(self, step: ReadPage) -> Page:
        if step.query.get("page") == "0":
            self.requests += 1
            raise self.before
        return super().page(step)


@pytest.mark.parametrize("before", REFUSALS, ids=str)
@pytest.mark.parametrize("rows", [0, 1, 2, 11])
@each_list("appointments", "staff_tasks")
def test_a_list_without_page_zero_is_read_whole_at_once(before: VetlError, rows: int, endpoint: Endpoint) -> None:
    source, store = FromOne(Random(1), Manners(page_base=1, largest_page=4)), ModelStore()
    source.before = before
    source.fill(rows, START - timedelta(hours=1, seconds=7), -timedelta(hours=5), "pending")

    sync_whole(endpoint, source, store)
