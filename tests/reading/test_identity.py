"""Stability of ids, checked by a second read of a page while rows move and equal rows change places.

The name and the base of the page parameter: on servers of every kind, while their lists move.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Literal

import pytest
from hypothesis import given, strategies as st
from support.model_driver import Driver, each_list, reading_of, sync
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.errors import RequestRefused, Unreachable, VetlError
from vetl.core.pages import Page, Row
from vetl.core.steps import Plan, ReadPage, do
from vetl.discovery.discover import capabilities_of
from vetl.discovery.identity import TOO_MANY, Identity, compared, look_first
from vetl.discovery.page_parameters import PageNumbers, find_pages
from vetl.endpoints import STAFF_TASKS


def rows(*contents: object, ids: str = "") -> list[Row]:
    return [{"id": f"{ids}{place}", "title": content} for place, content in enumerate(contents)]


def page(*shown: Row, of: int = 100) -> Page:
    return Page(shown, of, len(shown), START)


def copies(number: int, *, of: int = 100) -> list[Page]:
    """Return reads of a page of one row, which has another id each time."""
    return [page({"id": str(read), "title": "a"}, of=of) for read in range(number)]


@pytest.mark.parametrize(
    ("reads", "verdict"),
    [
        ([page(*rows("a", "b"))] * 2, "stable"),
        ([page(*rows("a", "b", "c")), page(*rows("a", "b", "c", ids="x"))], "changing"),
        *((copies(looks), "unknown") for looks in range(2, TOO_MANY)),
        (copies(TOO_MANY), "changing"),
        (copies(2, of=1), "changing"),
        (copies(3, of=3), "unknown"),
        (copies(4, of=3), "changing"),
        ([page(*rows("a")), page(*rows("b", ids="x"))], "unknown"),
        ([page(), page()], "unknown"),
        ([page({"title": "a"})] * 2, "unknown"),
    ],
)
def test_rows_under_other_ids_show_after_as_many_looks_as_twins_would_not_take(
    reads: list[Page], verdict: str
) -> None:
    """A list of one page has no twins elsewhere, and more ids than rows are no twins."""
    assert compared(reads).verdict == verdict


@given(twins=st.lists(st.integers(0, 5), min_size=7, max_size=TOO_MANY))
def test_twins_that_a_page_of_one_row_shows_in_turn_are_no_change_of_ids(twins: list[int]) -> None:
    """Six rows are equal except for their ids: one of them comes again within seven reads."""
    assert compared([page({"id": str(twin), "title": "same"}) for twin in twins]).verdict != "changing"


@given(data=st.data(), twins=st.integers(2, 8), others=st.integers(3, 10))
def test_twins_that_change_places_at_the_end_of_a_page_are_no_change_of_ids(
    data: st.DataObject, twins: int, others: int
) -> None:
    """Rows that are equal except for their ids come in another order at each read, and a page ends among them."""
    alike = [{"id": f"twin {number}", "title": "same"} for number in range(twins)]
    shown = data.draw(st.integers(0, twins))
    order = st.permutations(alike)
    reads = [page(*rows(*range(others)), *data.draw(order)[:shown]) for _ in range(2)]

    assert compared(reads).verdict != "changing"


class OtherIds(ModelSource):
    """A server that gives every row another id at each read, or one of two ids in turn."""

    def __init__(self, rng: Random, ways: int) -> None:
        super().__init__(rng)
        self.ways = ways

    def page(self, step: ReadPage) -> Page:
        page = super().page(step)
        way = self.requests % self.ways
        return replace(page, rows=tuple({**row, "id": f"{row['id']}/{way}"} for row in page.rows))


@pytest.mark.parametrize("ways", [2, 10**9])
@each_list("booking_sessions", "staff_tasks")
@pytest.mark.parametrize("pace", [0.0, 0.5])
def test_a_source_with_unstable_ids_is_found_out_in_two_or_three_requests(
    endpoint: Endpoint, ways: int, pace: float
) -> None:
    source, store = OtherIds(Random(3), ways), ModelStore()
    for _ in range(8):
        source.add(START - timedelta(hours=1), status="pending", number=len(source.rows))
    source.move = lambda: source.touch("r00001") if source.rng.random() < pace else None

    outcome = sync(endpoint, source, store)

    assert "rows came back under another id" in outcome.reason
    assert source.requests <= 3
    assert store.rows == {}
    assert [item.certified for item in store.certificates] == [False]
    assert store.capabilities == {"ids": "changing"}


@pytest.mark.parametrize(
    ("cursor", "ids", "requests"),
    [({}, None, 2), ({"through": "x"}, "stable", 0), ({"through": "x"}, "changing", 2)],
)
def test_a_list_is_looked_at_before_its_first_read_and_while_its_ids_were_changing(
    cursor: dict[str, str], ids: str | None, requests: int
) -> None:
    source, store = ModelSource(Random(1)), ModelStore()
    for number in range(8):
        source.add(status="pending", number=number)

    read = reading_of(STAFF_TASKS, source, store, cursor=cursor, capabilities={"ids": ids} if ids else {})
    Driver(source, store, source.rng).run(look_first(read, capabilities_of(read), Identity()))

    assert source.requests == requests


BEFORE_THE_FIRST = ("repeats", "empty", RequestRefused("page must be at least 1", status=400), Unreachable("500"))
Before = Literal["repeats", "empty"] | VetlError


def listed(
    rows: int,
    size: int,
    *,
    name: str = "page",
    base: int = 0,
    before: Before = "repeats",
    arrivals: Sequence[int] = (),
) -> ModelSource:
    """Return a server with pages of `size` rows, newest first. So many new rows come before each request."""
    names = QueryNames(page=name)
    manners = Manners(names, page_base=base, largest_page=size, order="created_desc", before=before)
    source = ModelSource(Random(0), manners).fill(rows, START - timedelta(days=1), timedelta(seconds=1), "active")
    coming = iter(arrivals)

    def move() -> None:
        for _ in range(next(coming, 0)):
            source.add()

    source.move = move
    return source


def found(server: ModelSource, *names: str) -> tuple[str, int] | None:
    def ask(name: str, number: int) -> Plan[Page | None]:
        try:
            return (yield from do(ReadPage({name: str(number), "per_page": "100"}, 0, 100, lenient=True)))
        except RequestRefused:
            return None

    plan = find_pages(names or ("page", "p"), ask)
    numbers: PageNumbers = Driver(server, ModelStore(), Random(0)).run(plan)
    return None if numbers.base is None else (numbers.name, numbers.base)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("rows", [2, 3, 10])
@pytest.mark.parametrize(("base", "before"), [(0, "repeats"), *((1, before) for before in BEFORE_THE_FIRST)])
def test_the_first_page_is_found_on_lists_of_any_length(rows: int, size: int, base: int, before: Before) -> None:
    if rows > size:
        assert found(listed(rows, size, base=base, before=before)) == ("page", base)


def test_another_name_is_found_after_one_that_is_ignored() -> None:
    assert found(listed(10, 3, name="p", base=1)) == ("p", 1)


def test_if_every_page_repeats_the_first_nothing_is_found_with_few_requests() -> None:
    server = listed(10, 3, name="sheet")

    assert found(server) is None
    assert server.requests == 6


def test_a_server_that_breaks_over_every_page_is_no_server_that_counts_from_one() -> None:
    server = listed(10, 3, base=100, before=Unreachable("500"))

    with pytest.raises(Unreachable):
        found(server)


arrivals = st.lists(st.integers(0, 2), max_size=8)
settings = {"rows": st.integers(2, 30), "arrivals": arrivals, "base": st.sampled_from([0, 1])}


@given(size=st.integers(2, 8), before=st.sampled_from(BEFORE_THE_FIRST), **settings)
def test_a_list_that_grows_meanwhile_misleads_nobody(
    rows: int, size: int, base: int, before: Before, arrivals: list[int]
) -> None:
    server = listed(rows + size, size, base=base, before=before, arrivals=arrivals)

    assert found(server, "page") in (("page", base), None)


@given(
    rows=st.integers(2, 5), at=st.integers(0, 6), base=st.sampled_from([0, 1]), name=st.sampled_from(["page", "p"])
)
def test_one_row_that_comes_meanwhile_misleads_nobody_on_pages_of_one(
    rows: int, at: int, base: int, name: str
) -> None:
    server = listed(rows, 1, name=name, base=base, arrivals=[*[0] * at, 1])

    assert found(server, "page") in ((None,) if name == "p" else (("page", base), None))


@given(size=st.integers(3, 8), rows=st.integers(9, 30), arrivals=st.lists(st.integers(0, 1), max_size=8))
def test_a_parameter_that_is_ignored_is_not_believed_on_a_growing_list(
    size: int, rows: int, arrivals: list[int]
) -> None:
    assert found(listed(rows, size, name="sheet", arrivals=arrivals), "page") is None
