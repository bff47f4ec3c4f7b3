"""The first request of a list about which nothing is known: servers that count from 1 do not have page 0."""

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pipelines.endpoint import QueryNames
from pipelines.endpoints import by_name
from pipelines.errors import NotFound, PracticeRefused, RequestRefused, Unreachable, VetlError
from pipelines.pages import Page, Window
from pipelines.steps import Learnt, ReadPage
from pipelines.strategies.dialect import Dialect
from pipelines.strategies.identity import Identity, look_first
from pipelines.strategies.learning import open_list
from pipelines.strategies.reading import Reading

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
REFUSALS = [RequestRefused("400", status=400), NotFound("404", status=404), Unreachable("500")]


def opened(page_zero: VetlError, page_one: VetlError | int) -> tuple[Dialect, dict[str, Any], int]:
    """What a server makes of page 0, and of page 1 (an error, or how many rows it holds)."""
    plan = open_list(Dialect(QueryNames()), Window(), {})
    learnt: dict[str, Any] = {}
    asked = 0
    answer: Any = None
    failure: VetlError | None = None
    while True:
        try:
            step = plan.send(answer) if failure is None else plan.throw(failure)
        except StopIteration as finished:
            return finished.value, learnt, asked
        answer = failure = None
        if isinstance(step, Learnt):
            learnt[step.name] = step.value
            continue
        assert isinstance(step, ReadPage)
        asked += 1
        told = page_zero if step.query["page"] == "0" else page_one
        if isinstance(told, VetlError):
            failure = told
        else:
            answer = Page(tuple({"id": number} for number in range(told)), told, None, None, NOW)


@pytest.mark.parametrize("page_zero", REFUSALS, ids=str)
@pytest.mark.parametrize(("rows", "learnt"), [(1, {"page_base": 1}), (0, {})])
def test_page_one_is_asked_for_where_page_zero_is_not_there(
    page_zero: VetlError, rows: int, learnt: dict[str, int]
) -> None:
    dialect, kept, asked = opened(page_zero, rows)

    assert (dialect.page_base, kept, asked) == (1, learnt, 2)


@pytest.mark.parametrize("failure", REFUSALS, ids=str)
def test_a_list_that_has_neither_page_fails_as_page_zero_does(failure: VetlError) -> None:
    with pytest.raises(type(failure), match=str(failure)):
        opened(failure, Unreachable("another"))


@pytest.mark.parametrize("failure", REFUSALS, ids=str)
def test_the_look_at_ids_leaves_it_to_the_checks_to_find_the_first_page(failure: VetlError) -> None:
    start = date(2026, 1, 1)
    looking = look_first(Reading(by_name("appointments"), QueryNames(), NOW, ZoneInfo("America/Chicago"), start))
    next(looking)

    with pytest.raises(StopIteration) as ended:
        looking.throw(failure)

    assert ended.value.value == Identity()


def test_a_practice_that_is_refused_is_not_asked_again() -> None:
    with pytest.raises(PracticeRefused):
        opened(PracticeRefused("403", status=403), 1)
