"""Small stories of lists that move during a read: each could be a false certificate or an endless read."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from random import Random

import pytest
from support import certificate_claims
from support.model_driver import each_list, paged, ranged, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint
from vetl.endpoints.ai_outbound import AI_OUTBOUND
from vetl.endpoints.appointments import APPOINTMENTS
from vetl.endpoints.staff_tasks import STAFF_TASKS

Event = Callable[[], object]


def filled(
    endpoint: Endpoint, manners: Manners, rows: int, apart: timedelta, status: str
) -> tuple[ModelSource, ModelStore]:
    source = ModelSource(Random(1), manners, stamped=endpoint is not AI_OUTBOUND)
    return source.fill(rows, START - apart * rows, apart, status), ModelStore()


def before_requests(source: ModelSource, events: Mapping[int, Sequence[Event]]) -> None:
    """Let these things happen before the requests with these numbers."""
    number = count(1)

    def move() -> None:
        for event in events.get(next(number), ()):
            event()

    source.move = move


def test_a_row_that_leaves_and_one_that_comes_late_between_two_pages_hide_no_other() -> None:
    """The total does not change and as many ids come, but a row moved up to the page before unread."""
    source, store = filled(APPOINTMENTS, Manners(largest_page=4), 10, timedelta(hours=5), "active")
    sync(APPOINTMENTS, source, store)
    source.now += timedelta(hours=5)
    fresh = [source.add(source.now - timedelta(minutes=30 - number), status="active") for number in range(10)]
    late = source.now - timedelta(minutes=5)
    before_requests(source, {2: [lambda: source.touch(fresh[1]), lambda: source.add(late, status="active")]})

    sync(APPOINTMENTS, source, store)

    for certificate in store.certificates:
        if certificate.certified and certificate.kind == "closed":
            certificate_claims.assert_window_is_whole(source, store, certificate)


def test_a_request_that_is_deleted_while_the_list_is_read_downwards_hides_no_other() -> None:
    """The row that moves up past the next page has the status of the deleted row, so all totals agree."""
    manners = Manners(largest_page=4, order="created_desc")
    source, store = filled(AI_OUTBOUND, manners, 12, timedelta(days=2), "completed")
    store.capabilities = paged()
    before_requests(source, {2: [lambda: source.remove("r00011")]})

    sync_whole(AI_OUTBOUND, source, store)


def test_a_task_that_is_deleted_while_the_newest_are_read_hides_no_other() -> None:
    manners = Manners(largest_page=4, order="updated_desc")
    source, store = filled(STAFF_TASKS, manners, 30, timedelta(hours=3), "completed")
    source.touch("r00003")
    sync(STAFF_TASKS, source, store)
    assert store.capabilities["order"] == "newest_updated_first"
    source.now += timedelta(hours=2)
    for _ in range(9):
        source.add(status="completed")
    before_requests(source, {2: [lambda: source.remove("r00038")]})

    outcome = sync(STAFF_TASKS, source, store)

    assert outcome.certified
    assert source.rows.items() <= store.rows.items()


@each_list("staff_tasks", "ai_outbound", "appointments")
def test_a_list_that_grows_before_each_request_is_read_to_an_end(endpoint: Endpoint) -> None:
    """No pass over it is like the pass before, and each is longer."""
    manners = Manners(largest_page=4, order="created_desc")
    source, store = filled(endpoint, manners, 40, timedelta(hours=3), "completed")
    store.capabilities = {**paged(), **ranged()}
    grow = partial(source.add, status="completed")
    before_requests(source, {number: [grow] for number in range(1, 10_000)})

    sync(endpoint, source, store)

    assert source.requests < 100 * (40 // 4 + 1)


@pytest.mark.parametrize("page", ["page_number", "p", "page"])
def test_a_page_name_or_base_that_was_learnt_wrongly_is_doubted(page: str) -> None:
    """This can happen if the pages only differed because the list moved."""
    source, store = filled(STAFF_TASKS, Manners(largest_page=4), 11, timedelta(hours=1), "completed")
    store.capabilities = paged(base=1, name=page)

    sync_whole(STAFF_TASKS, source, store)
    assert (store.capabilities["page"]["name"], store.capabilities["page"]["base"]) == ("page", 0)


@pytest.mark.parametrize("page_base", [0, 1])
def test_a_list_that_refuses_date_times_is_read_even_if_only_its_pages_are_known(page_base: int) -> None:
    """A sync may have ended between learning the page base and learning the bounds."""
    manners = Manners(largest_page=4, page_base=page_base, refuses_datetimes=True)
    source, store = filled(APPOINTMENTS, manners, 11, timedelta(hours=5), "active")
    store.capabilities = paged(base=page_base)

    sync_whole(APPOINTMENTS, source, store)
