"""Small stories of lists that move during a read: each could be a false certificate or an endless read.

Servers with false totals: never a false certificate, all available rows, a bounded number of requests.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from random import Random
from typing import Literal

import pytest
from hypothesis import given, strategies as st
from support import certificate_claims
from support.model_driver import each_list, paged, ranged, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint
from vetl.core.pages import Page
from vetl.core.steps import ReadPage
from vetl.discovery.conventions import check_page
from vetl.endpoints import AI_OUTBOUND, APPOINTMENTS, BOOKING_SESSIONS, STAFF_TASKS, by_name
from vetl.reading import certified, paging

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
    manners = Manners(largest_page=4, page_base=page_base, refuses="instants")
    source, store = filled(APPOINTMENTS, manners, 11, timedelta(hours=5), "active")
    store.capabilities = paged(base=page_base)

    sync_whole(APPOINTMENTS, source, store)


STATUSES = {
    "booking_sessions": ("active", "completed"),
    "ai_outbound": ("received", "completed"),
    "staff_tasks": ("pending", "completed"),
}
LIES: tuple[Literal["too high", "too low", "capped", "unfiltered"], ...] = (
    "too high", "too low", "capped", "unfiltered",
)  # fmt: skip


def told(endpoint: Endpoint, rng: Random, manners: Manners, rows: int) -> ModelSource:
    first = datetime(2026, 2, 21, tzinfo=UTC)
    apart = (START - timedelta(hours=1) - first) / max(1, rows)
    return ModelSource(rng, manners).fill(rows, first, apart, *STATUSES[endpoint.name])


@given(
    endpoint=st.sampled_from(list(STATUSES)).map(by_name),
    lie=st.sampled_from(LIES),
    rows=st.integers(0, 90),
    largest_page=st.sampled_from([3, 10, 100]),
    order=st.sampled_from(["created_desc", "updated_desc", "id"]),
)
def test_no_certificate_is_false_and_the_requests_are_bounded(
    endpoint: Endpoint, lie: Literal["too high"], rows: int, largest_page: int, order: Literal["id"]
) -> None:
    manners = Manners(total=lie, largest_page=largest_page, order=order)
    source, store = told(endpoint, Random(1), manners, rows), ModelStore()

    outcome = sync(endpoint, source, store)

    if outcome.certified:
        assert source.rows == store.rows
    assert source.requests < 600 + 40 * rows


@pytest.mark.parametrize("second", range(20, 32))
def test_tasks_that_come_between_a_list_and_its_totals_leave_no_doubt(second: int) -> None:
    """The first one looks like a task that the server hides, which the next one seems to confirm."""
    source, store = told(STAFF_TASKS, Random(1), Manners(largest_page=10), 47), ModelStore()
    add = partial(source.add, status="pending")
    before_requests(source, {10: [add], second: [add]})

    assert sync(STAFF_TASKS, source, store).certified


BILLIARD = f"total of {10**15}"


@each_list(*STATUSES)
@pytest.mark.parametrize(
    ("manners", "rows", "reason", "most"),
    [
        (Manners(total="too high", order="created_desc"), 47, "its own total of", 150),
        (Manners(total="too low", order="created_desc"), 47, "its own total of", 150),
        (Manners(total="huge", order="created_desc"), 47, BILLIARD, 200),
        (Manners(total="huge", order="id"), 47, BILLIARD, 200),
        (Manners(total="huge", order="created_desc", beyond="repeats"), 50, BILLIARD, 600),
        (Manners(total="huge", order="id", beyond="repeats"), 50, BILLIARD, 600),
    ],
)
def test_every_row_is_stored_in_few_requests_and_the_reason_names_the_total(
    endpoint: Endpoint, manners: Manners, rows: int, reason: str, most: int
) -> None:
    """If pages beyond the end repeat the last rows, no page contradicts its own total."""
    source, store = told(endpoint, Random(1), manners, rows), ModelStore()

    outcome = sync(endpoint, source, store)

    assert source.rows == store.rows
    assert not outcome.certified
    assert reason in outcome.reason
    assert source.requests < most


@each_list(*STATUSES)
@pytest.mark.parametrize("counts_them", [True, False])
def test_pages_from_which_the_server_leaves_out_rows_are_read_to_the_last(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, *, counts_them: bool
) -> None:
    source, store = told(endpoint, Random(1), Manners(largest_page=10), 60), ModelStore()
    page, hidden = source.page, set(sorted(source.rows)[::5])

    def some_rows(step: ReadPage) -> Page:
        whole = page(replace(step, lenient=True))
        rows = tuple(row for row in whole.rows if row["id"] not in hidden)
        total = whole.total_count - (0 if counts_them else len(hidden))
        answer = replace(
            whole, rows=rows, total_count=total, total_pages=-(-whole.total_count // min(10, step.size))
        )
        check_page(step, answer)
        return answer

    monkeypatch.setattr(source, "page", some_rows)

    outcome = sync(endpoint, source, store)

    assert store.rows.keys() == source.rows.keys() - hidden
    assert not outcome.certified


@each_list(*STATUSES)
def test_a_server_that_never_runs_out_of_rows_is_read_to_an_end(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits here are a hundredth of the real ones."""
    monkeypatch.setattr(paging, "MOST_PAGES", 200)
    monkeypatch.setattr(certified, "MOST_READ", 10_000)
    manners = Manners(total="huge", beyond="invents", order="created_desc")
    source, store = told(endpoint, Random(1), manners, 47), ModelStore()

    outcome = sync(endpoint, source, store)

    assert not outcome.certified
    assert source.requests < 30_000


def test_a_capped_total_is_found_by_looking_beyond_it() -> None:
    """Windows are split until their totals are under the cap; then they are certain after all."""
    source, store = told(BOOKING_SESSIONS, Random(1), Manners(total="capped"), 90), ModelStore()

    sync_whole(BOOKING_SESSIONS, source, store)


def test_a_total_that_was_caught_lying_once_may_be_right_the_next_time() -> None:
    source, store = told(BOOKING_SESSIONS, Random(1), Manners(total="too high"), 47), ModelStore()
    sync(BOOKING_SESSIONS, source, store)
    source.manners = replace(source.manners, total="true")

    sync_whole(BOOKING_SESSIONS, source, store)


@pytest.mark.parametrize("unknown", [2, 3, 9])
@pytest.mark.parametrize(
    ("endpoint", "hidden"),
    [(BOOKING_SESSIONS, "abandoned"), (STAFF_TASKS, "canceled"), (AI_OUTBOUND, "suppressed")],
)
def test_rows_of_an_unknown_status_are_read_beside_those_of_a_hidden_one(
    endpoint: Endpoint, hidden: str, unknown: int
) -> None:
    source = ModelSource(Random(3), Manners(hidden_status=hidden, order="created_desc"))
    store = ModelStore()
    statuses = (hidden, *STATUSES[endpoint.name][:2], *["snoozed"] * unknown)
    source.fill(60, START - timedelta(days=12), timedelta(hours=4), *statuses)
    for reconcile in ("no", "no", "full"):
        sync_whole(endpoint, source, store, reconcile=reconcile)
        source.now += timedelta(hours=1)
        source.add(status="snoozed")
        source.now += timedelta(days=1)
