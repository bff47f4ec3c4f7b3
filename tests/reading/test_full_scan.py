"""Lists without a date filter, read while tasks and requests run through their life; and rows that vanish.

A full reconcile finds rows that vanished at the source without a trace, with a second read.
"""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal

import pytest
from support.model_driver import Driver, each_list, sync, sync_whole
from support.model_source import START, Manners, ModelSource
from support.model_store import ModelStore
from vetl.core.endpoint import Endpoint, FullScan, NewestFirst, Record, Strategy, UpdatedWindows
from vetl.core.errors import ConfigurationError
from vetl.discovery.conventions import QueryConventions
from vetl.endpoints import AI_OUTBOUND, APPOINTMENTS, BOOKING_SESSIONS, STAFF_TASKS
from vetl.reading import paging
from vetl.reading.paging import MOST_KEPT, kept_rows, read_pass
from vetl.reading.rows_by_id import ENOUGH
from vetl.reading.whole_list import WHOLE, read_whole_list

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def filled(kind: Manners, rows: int) -> tuple[ModelSource, ModelStore]:
    source, apart = ModelSource(Random(5), kind), (START - FIRST) / rows
    return source.fill(rows, FIRST, apart, "pending", "completed", "completed"), ModelStore()


@pytest.mark.parametrize("strategy", [FullScan((), ()), NewestFirst((), ()), FullScan(("open",), ("open",))])
def test_a_list_without_dates_is_refused_without_statuses(strategy: Strategy) -> None:
    """The totals of its statuses prove it whole; without any, nothing would."""
    with pytest.raises(
        ConfigurationError, match=r"^reviews: \w+ needs `statuses`, and the record a field `status`$"
    ):
        Endpoint("reviews", "reviews", Record, strategy, "reviews")


class Priced(Record):
    id: str
    price: float | None = None


def test_a_field_that_can_be_no_raw_column_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^the field price: a raw column cannot be .*float.*Text \(for decimals"
    ):
        Endpoint("reviews", "reviews", Priced, UpdatedWindows(), "reviews")


def test_an_edit_to_a_final_task_is_noticed_at_once_if_the_list_is_newest_updated_first() -> None:
    source, store = filled(Manners(order="updated_desc", largest_page=100), 300)
    source.touch("r00007")
    sync(STAFF_TASKS, source, store)
    source.now += timedelta(hours=1)
    final = next(identity for identity, row in source.rows.items() if row["status"] == "completed")
    source.touch(final, title="edited")
    before = source.requests

    sync(STAFF_TASKS, source, store)

    assert source.rows == store.rows
    assert source.requests - before == 4


@pytest.mark.parametrize("order", ["updated_desc", "created_desc", "id"])
@pytest.mark.parametrize("rows", [3, 30, 300])
@each_list("staff_tasks", "ai_outbound")
def test_a_row_on_which_the_platform_fails_later_is_named(
    endpoint: Endpoint, order: Literal["updated_desc", "created_desc", "id"], rows: int
) -> None:
    """Whatever the first sync has learnt of the list, which is little if it is short."""
    source, store = filled(Manners(order=order, largest_page=100), rows)
    sync(endpoint, source, store)
    source.now += timedelta(hours=1)
    source.broken = source.add(status="completed")
    source.add(status="completed")
    for _ in range(2):
        outcome = sync(endpoint, source, store)

        assert (outcome.certified, outcome.reason[:4], outcome.reason[-5:]) == (False, "row ", ": 500")
        assert source.rows.keys() - store.rows.keys() == {source.broken}
    source.broken = None
    sync_whole(endpoint, source, store)


def test_rows_of_many_pages_are_saved_while_a_pass_goes_on() -> None:
    """The pass keeps ids and times of them."""
    source, store = filled(Manners(order="id", largest_page=100), 3 * MOST_KEPT)
    conventions = QueryConventions(STAFF_TASKS.names, saves=True)

    whole = Driver(source, store, source.rng).run(read_whole_list(conventions))

    assert whole.certified
    assert source.rows == store.rows
    assert kept_rows(whole.last.pages) <= MOST_KEPT
    assert {"id", "created_at", "updated_at"} in [set(row) for row in whole.last.evidence]


def test_rows_that_are_wanted_together_end_a_pass_that_has_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MOST_TOGETHER", 100)
    source, store = filled(Manners(largest_page=5), 300)

    done = Driver(source, store, source.rng).run(read_pass(QueryConventions(STAFF_TASKS.names), WHOLE))

    assert not done.whole
    assert done.finding == "its pages have more than 100 rows"


def test_a_list_that_cannot_be_paged_deep_is_not_certified_and_says_why() -> None:
    """It has no date filter, so there is no narrower window to read instead."""
    source, store = filled(Manners(deepest=2), 60)

    outcome = sync(STAFF_TASKS, source, store)

    assert not outcome.certified
    assert "page 3 is refused (400)" in outcome.reason
    assert len(store.rows) == 30


@pytest.mark.parametrize("order", ["id", "updated_desc"])
def test_a_list_that_hides_final_tasks_unless_asked_for_them_is_read_by_status(
    order: Literal["id", "updated_desc"],
) -> None:
    """The contract does not show which statuses a list without a status has."""
    source, store = filled(Manners(order=order, default_status="pending"), 60)

    for _ in range(3):
        sync_whole(STAFF_TASKS, source, store)
        sync_whole(STAFF_TASKS, source, store, reconcile="full")
        source.now += timedelta(hours=1)
        opened, final = (
            [identity for identity, row in source.rows.items() if row["status"] == status]
            for status in ("pending", "completed")
        )
        source.touch(opened[0], status="completed")
        source.touch(final[0], status="pending")
        source.add(status="canceled")
        source.remove(opened[1])


@pytest.mark.parametrize(
    ("endpoint", "statuses"),
    [
        (STAFF_TASKS, ("pending", "completed", "canceled")),
        (AI_OUTBOUND, ("received", "queued", "in_progress", "completed", "suppressed", "failed")),
        (BOOKING_SESSIONS, ("active", "completed", "abandoned")),
    ],
    ids=lambda value: value.name if isinstance(value, Endpoint) else "",
)
@pytest.mark.parametrize("each", [1, 10])
def test_a_list_that_hides_as_many_rows_of_each_status_as_it_shows_is_read_by_status(
    endpoint: Endpoint, statuses: tuple[str, ...], each: int
) -> None:
    """Equal totals alone would look like a filter that the server ignores."""
    kind = Manners(order="created_desc", default_status=statuses[0])
    source = ModelSource(Random(7), kind).fill(
        each * len(statuses), START - timedelta(hours=60), timedelta(hours=1), *statuses
    )

    sync_whole(endpoint, source, ModelStore())


def test_a_request_open_for_long_is_got_by_id() -> None:
    source, store = filled(Manners(order="created_desc", largest_page=100), 500)
    for row in source.rows.values():
        row["status"] = "completed"
    source.touch("r00003", status="in_progress")
    sync(AI_OUTBOUND, source, store)
    source.now += timedelta(days=30)
    sync(AI_OUTBOUND, source, store)
    source.touch("r00003", status="completed")

    sync_whole(AI_OUTBOUND, source, store)


def test_a_list_that_hides_final_requests_unless_asked_for_them_is_read_by_status() -> None:
    """The contract does not show which statuses a list without a status has."""
    source, store = ModelSource(Random(7), Manners(order="created_desc", default_status="received")), ModelStore()
    statuses = ("completed", "received", "queued", "in_progress")
    source.fill(60, START - timedelta(days=59), timedelta(days=1), *statuses)

    sync_whole(AI_OUTBOUND, source, store)


def test_a_reconcile_reads_hidden_requests_of_its_days_by_their_ids() -> None:
    """Without a status the list has the open requests alone, and they are newer than the edited one."""
    source, store = ModelSource(Random(7), Manners(order="created_desc", default_status="received")), ModelStore()
    source.fill(40, START - timedelta(days=9), timedelta(hours=2), "completed")
    source.fill(5, START - timedelta(days=5), timedelta(hours=3), "received")
    sync_whole(AI_OUTBOUND, source, store)
    source.now += timedelta(hours=1)
    source.touch("r00030", title="edited without a trace")

    sync_whole(AI_OUTBOUND, source, store, reconcile="recent")


def of_hours(rows: int) -> ModelSource:
    source = ModelSource(Random(5), Manners(order="created_desc"))
    source.fill(rows, START - timedelta(days=9), timedelta(hours=1), "completed")
    source.now += timedelta(days=2)
    return source


@each_list("appointments", "booking_sessions", "ai_outbound")
@pytest.mark.parametrize("gone", [(0, 1, 2), (50,), (10, 80, 199)])
def test_a_reconcile_costs_one_request_more_for_each_or_reads_the_time_again(
    endpoint: Endpoint, gone: tuple[int, ...]
) -> None:
    source, store = of_hours(200), ModelStore()
    sync(endpoint, source, store)
    before = source.requests
    sync(endpoint, source, store, reconcile="full")
    undisturbed = source.requests - before
    for number in gone:
        del source.rows[f"r{number:05d}"]
    before = source.requests

    sync_whole(endpoint, source, store, reconcile="full")
    assert len(store.missing) == len(gone)
    more = undisturbed if endpoint is APPOINTMENTS else len(gone) + 2 + ENOUGH  # which cannot be got by id
    assert source.requests - before <= undisturbed + more


def test_a_row_that_is_back_at_the_second_look_has_not_vanished() -> None:
    source, store = of_hours(40), ModelStore()
    sync(APPOINTMENTS, source, store)
    hidden, answers = source.rows.pop("r00007"), iter(range(10**6))
    back = 4

    def come_back() -> None:
        if next(answers) == back:
            source.rows["r00007"] = hidden

    source.move = come_back
    sync(APPOINTMENTS, source, store, reconcile="full")

    assert store.missing == set()
    assert "r00007" in store.rows
