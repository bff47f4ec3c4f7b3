"""The name and the base of the page parameter: on servers of every kind, while their lists move."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.model_driver import Driver
from support.model_store import ModelStore
from vetl.core.errors import RequestRefused, Unreachable
from vetl.core.pages import Page
from vetl.core.steps import Plan, ReadPage, do
from vetl.discovery.page_parameters import PageNumbers, find_pages

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
BEFORE_THE_FIRST = ("repeats", "refused", "empty", "breaks")


@dataclass
class Server:
    """Pages of `size` rows, newest first. `before` is the answer to page 0 if pages count from 1.

    `arrivals`: how many new rows come on top before each request.
    """

    rows: int
    size: int
    name: str = "page"
    base: int = 0
    before: str = "repeats"
    arrivals: Sequence[int] = ()
    asked: int = field(default=0)

    def page(self, step: ReadPage) -> Page:
        if self.asked < len(self.arrivals):
            self.rows += self.arrivals[self.asked]
        self.asked += 1
        number = int(str(step.query.get(self.name, self.base))) - self.base
        if number < 0 and self.before == "refused":
            raise RequestRefused("page must be at least 1", status=400)
        if number < 0 and self.before == "breaks":
            raise Unreachable("500")
        number = max(number, 0) if self.before != "empty" or number >= 0 else self.rows
        ids = range(self.rows - 1, -1, -1)[number * self.size : (number + 1) * self.size]
        return Page(tuple({"id": str(one)} for one in ids), self.rows, None, None, NOW)


def found(server: Server, *names: str) -> tuple[str, int] | None:
    def ask(name: str, number: int) -> Plan[Page | None]:
        try:
            return (yield from do(ReadPage({name: str(number)}, 0, server.size, lenient=True)))
        except RequestRefused:
            return None

    plan = find_pages(names or ("page", "p"), ask)
    numbers: PageNumbers = Driver(server, ModelStore(), Random(0)).run(plan)
    return None if numbers.base is None else (numbers.name, numbers.base)


@pytest.mark.parametrize("size", [4, 6])
@pytest.mark.parametrize("rows", [5, 13])
@pytest.mark.parametrize(("base", "before"), [(0, "repeats"), *((1, before) for before in BEFORE_THE_FIRST)])
def test_the_first_page_is_found_on_lists_of_any_length(rows: int, size: int, base: int, before: str) -> None:
    if rows > size:
        assert found(Server(rows, size, base=base, before=before)) == ("page", base)


def test_another_name_is_found_after_one_that_is_ignored() -> None:
    assert found(Server(13, 4, name="p", base=1)) == ("p", 1)


def test_if_every_page_repeats_the_first_nothing_is_found_with_few_requests() -> None:
    server = Server(10, 3, name="sheet")

    assert found(server) is None
    assert server.asked == 6


def test_a_server_that_breaks_over_every_page_is_no_server_that_counts_from_one() -> None:
    server = Server(10, 3, base=100, before="breaks")

    with pytest.raises(Unreachable):
        found(server)


arrivals = st.lists(st.integers(0, 2), max_size=8)
settings = {"rows": st.integers(2, 30), "arrivals": arrivals, "base": st.sampled_from([0, 1])}


@given(size=st.integers(2, 8), before=st.sampled_from(BEFORE_THE_FIRST), **settings)
def test_a_list_that_grows_meanwhile_misleads_nobody(
    rows: int, size: int, base: int, before: str, arrivals: list[int]
) -> None:
    server = Server(rows + size, size, base=base, before=before, arrivals=arrivals)

    assert found(server, "page") in (("page", base), None)


@given(size=st.integers(3, 8), rows=st.integers(9, 30), arrivals=st.lists(st.integers(0, 1), max_size=8))
def test_a_parameter_that_is_ignored_is_not_believed_on_a_growing_list(
    size: int, rows: int, arrivals: list[int]
) -> None:
    assert found(Server(rows, size, name="sheet", arrivals=arrivals), "page") is None
