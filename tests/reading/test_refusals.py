"""Refusals: of a practice at any request, of the status filter, and of page 0 by servers that count from 1.

Nothing of a refused practice is certified after that; without the filter and page 0, vetl reads all the same.

A row that comes or goes by itself is no proof that a parameter works: one contrast is seen there and back.
"""

from datetime import timedelta
from random import Random

import pytest
from support.model_driver import Driver, each_list, reading_of, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.errors import NotFound, PracticeRefused, RequestRefused, Unreachable, VetlError
from vetl.core.list_read import Result
from vetl.core.pages import Page
from vetl.core.steps import ReadPage
from vetl.discovery.discover import discover
from vetl.discovery.page_parameters import check_size
from vetl.discovery.parameter_names import check_statuses
from vetl.discovery.probes import ListKnowledge
from vetl.endpoints import by_name

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


@pytest.mark.parametrize("before", REFUSALS, ids=str)
@pytest.mark.parametrize("rows", [0, 1, 2, 11])
@each_list("appointments", "staff_tasks")
def test_a_list_without_page_zero_is_read_whole_at_once(before: VetlError, rows: int, endpoint: Endpoint) -> None:
    source, store = ModelSource(Random(1), Manners(page_base=1, largest_page=4, before=before)), ModelStore()
    source.fill(rows, START - timedelta(hours=1, seconds=7), -timedelta(hours=5), "pending")

    sync_whole(endpoint, source, store)


UNKNOWN = "a_name_that_nobody_tries"
OF_SESSIONS = ("active", "completed", "abandoned")


def shown(names: QueryNames, rows: int) -> ModelSource:
    source = ModelSource(Random(4), Manners(names=names, order="updated_desc"))
    return source.fill(rows, START - timedelta(days=3), -timedelta(hours=1), "active")


def found(names: QueryNames, rows: int, *, comes: int | None, goes: int | None) -> tuple[Result, Result]:
    """Return what is believed of start and end if a row comes, or the last one goes, before a certain request."""
    source = shown(names, rows)

    def move() -> None:
        if source.requests == comes:
            source.add(source.now - timedelta(minutes=10))
        if source.requests == goes and source.rows:
            source.remove(next(iter(source.rows)))

    source.move = move
    reading = reading_of(by_name("booking_sessions"), source, ModelStore())
    capabilities = Driver(source, ModelStore(), source.rng).run(discover(reading)).capabilities
    return capabilities.result("start"), capabilities.result("end")


@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("ignored", [("end",), ("start", "end")])
def test_a_row_that_comes_or_goes_makes_no_ignored_bound_work(rows: int, ignored: tuple[str, ...]) -> None:
    names = QueryNames(**dict.fromkeys(ignored, UNKNOWN))

    for moment in range(1, 40):
        for comes, goes in ((moment, None), (None, moment), (moment, moment + 1), (moment, moment + 2)):
            start, end = found(names, rows, comes=comes, goes=goes)

            assert end is not Result.HONOURED, (comes, goes)
            assert "start" not in ignored or start is not Result.HONOURED, (comes, goes)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_parameters_that_work_are_found_on_a_short_list(rows: int) -> None:
    assert found(QueryNames(), rows, comes=None, goes=None) == (Result.HONOURED, Result.HONOURED)


def is_believed(check: str, names: QueryNames, rows: int, moves: tuple[int, ...]) -> bool:
    """Return whether a check believes a name; a row goes, or comes again, before the requests `moves`."""
    source = shown(names, rows)
    source.move = lambda: _go_or_come(source, rows) if source.requests in moves else None
    reading = reading_of(by_name("booking_sessions"), source, ModelStore())
    start, end = (at.isoformat() for at in (START - timedelta(days=30), source.now + timedelta(days=2)))
    knowledge = ListKnowledge(reading, QueryNames(), whole={names.start: start, names.end: end})
    plan = check_size(knowledge) if check == "per_page" else check_statuses(knowledge, OF_SESSIONS)
    findings = Driver(source, ModelStore(), source.rng).run(plan)
    return findings[0].state in {"ok", "contradicts"}


def _go_or_come(source: ModelSource, rows: int) -> None:
    if len(source.rows) == rows:
        source.remove(next(iter(source.rows)))
    else:
        source.add(source.now - timedelta(minutes=10), status="active")


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("check", ["per_page", "status"])
def test_a_row_that_comes_or_goes_makes_no_ignored_parameter_work(check: str, rows: int) -> None:
    names = QueryNames(per_page=UNKNOWN, status=UNKNOWN)

    for moment in range(1, 12):
        for moves in ((moment,), (moment, moment + 1), (moment, moment + 2)):
            assert not is_believed(check, names, rows, moves), moves


@pytest.mark.parametrize(("check", "rows"), [("per_page", 2), ("status", 1), ("status", 2)])
def test_a_size_and_a_status_that_work_are_believed_on_a_short_list(check: str, rows: int) -> None:
    assert is_believed(check, QueryNames(), rows, ())
