"""A row that comes or goes by itself is no proof that a parameter works: one contrast is seen there and back."""

from datetime import timedelta
from random import Random

import pytest
from support.model_driver import Driver, reading_of
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import QueryNames
from vetl.core.list_read import Result
from vetl.discovery.examination import discover
from vetl.discovery.page_parameters import check_size
from vetl.discovery.probes import ListKnowledge
from vetl.discovery.row_checks import check_statuses
from vetl.endpoints import by_name

UNKNOWN = "a_name_that_nobody_tries"
STATUSES = ("active", "completed", "abandoned")


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
    plan = check_size(knowledge) if check == "per_page" else check_statuses(knowledge, STATUSES)
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
