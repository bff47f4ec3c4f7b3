"""The first request of an unknown list: servers that count from 1 have no page 0."""

from datetime import timedelta
from random import Random

import pytest
from support.model_driver import sync
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore

from pipelines.core.errors import NotFound, PracticeRefused, RequestRefused, Unreachable, VetlError
from pipelines.core.pages import Page
from pipelines.core.steps import ReadPage
from pipelines.endpoints import by_name

REFUSALS = [RequestRefused("400", status=400), NotFound("404", status=404), Unreachable("500")]


class FromOne(ModelSource):
    """A server without page 0."""

    before: VetlError = REFUSALS[0]

    def page(self, step: ReadPage) -> Page:
        if step.query.get("page") == "0":
            self.requests += 1
            raise self.before
        return super().page(step)


@pytest.mark.parametrize("before", REFUSALS, ids=str)
@pytest.mark.parametrize("rows", [0, 1, 2, 11])
@pytest.mark.parametrize("name", ["appointments", "staff_tasks"])
def test_a_list_without_page_zero_is_read_whole_at_once(before: VetlError, rows: int, name: str) -> None:
    source, store = FromOne(Random(1), Manners(page_base=1, largest_page=4)), ModelStore()
    source.before = before
    for number in range(rows):
        source.add(START - timedelta(hours=5 * number + 1, seconds=7), status="pending")

    outcome = sync(by_name(name), source, store)

    assert outcome.certified
    assert store.rows == source.rows


def test_a_practice_that_is_refused_is_not_asked_again() -> None:
    source = ModelSource(Random(1))

    def refuse() -> None:
        raise PracticeRefused("403", status=403)

    source.move = refuse
    with pytest.raises(PracticeRefused):
        sync(by_name("staff_tasks"), source, ModelStore())

    assert source.requests == 1
