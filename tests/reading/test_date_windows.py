"""Phone calls by whole days: stories of single readings. The invariants are in `test_call_machine`.

Phone calls that never rest, read by the strategy: a state machine against a model practice.
"""

from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from support.call_machine import CallMachine
from support.call_store import CallStore
from support.model_calls import ModelCalls, Sorting
from support.model_driver import Driver, Killed, reading_of
from vetl.core.endpoint import DateWindows
from vetl.core.errors import Failing, NotFound, TooSlow
from vetl.core.list_read import Outcome
from vetl.core.pages import Page, Row, Window
from vetl.core.steps import AttachDetails, Query, ReadCalls, ReadPage, ReplaceDays, Save
from vetl.discovery.conventions import check_page
from vetl.endpoints import PHONE_CALLS
from vetl.reading import call_schedule
from vetl.reading.call_days import calls_query
from vetl.reading.crowded_day import PROVEN, rows_at
from vetl.reading.paging import Pass

HISTORY = date(2026, 1, 10)
NOW = datetime(2026, 3, 10, 15, tzinfo=UTC)
NOON = timedelta(hours=17)
BUSY = date(2026, 2, 3)
ZONE = ZoneInfo("America/New_York")


def sync(source: ModelCalls, store: CallStore, **given: Any) -> Outcome:
    reading = reading_of(PHONE_CALLS, source, store, **{"history_start": HISTORY, "details": "off"} | given)
    return Driver(source, store, source.rng).run(
        call_schedule.read_call_days(reading, DateWindows(csv_page_size=40))
    )


def ring(source: ModelCalls, day: date | None = None) -> None:
    at = source.now if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC) + NOON
    source.ring(at, phone=f"+{source.rng.randint(0, 5)}")


def opened(seed: int, rows: int = 0) -> tuple[ModelCalls, CallStore]:
    """Return a practice with so many calls, on any days, and an empty store."""
    source = ModelCalls(Random(seed), NOW, ZONE)
    days = (NOW.date() - HISTORY).days
    for _ in range(rows):
        ring(source, HISTORY + timedelta(days=source.rng.randrange(days)))
    return source, CallStore(ZONE)


def mirrored(source: ModelCalls, store: CallStore, first: date = HISTORY) -> bool:
    days = (first, source.now.date() + timedelta(days=1))
    return store.rows(*days) == source.rows(*days)


@pytest.mark.parametrize(("changed", "later"), [(30, 1), (60, 7)])
def test_a_call_of_the_last_35_days_is_seen_to_change_the_next_day_and_any_call_in_a_week(
    changed: int, later: int
) -> None:
    source, store = opened(1, 300)
    sync(source, store)
    source.now += timedelta(days=later)
    for place, call in enumerate(source.calls):
        if source.day(call) >= source.now.date() - timedelta(days=changed):
            source.change(place, outcome="appointment_booked")

    sync(source, store)

    assert mirrored(source, store)


def test_a_killed_sync_of_a_source_whose_clock_was_put_back_hides_no_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def killed(step: ReadPage) -> Page:
        raise Killed(step)

    source, store = opened(2, 100)
    ring(source, NOW.date() - timedelta(days=5))
    sync(source, store, details="recent")
    source.now -= timedelta(days=1)
    source.change(-1, outcome="abandoned")
    with monkeypatch.context() as patch:
        patch.setattr(source, "page", killed)
        with pytest.raises(Killed):
            sync(source, store, details="recent")
    source.now += timedelta(days=1)
    source.change(-1, outcome="appointment_booked")

    sync(source, store, details="recent")

    assert mirrored(source, store)


@pytest.mark.parametrize(
    ("sorting", "calls", "a_minute"), [("listed", 170, 3), ("per page", 170, 3), ("per answer", 900, 45)]
)
def test_a_day_beyond_one_page_is_read_by_ids(sorting: Sorting, calls: int, a_minute: int) -> None:
    """This also holds if each page, or each answer, sorts calls of one minute differently: a pass misses some."""
    source, store = opened(3)
    source.sorting = sorting
    for number in range(calls):
        source.ring(datetime(2026, 2, 3, 15, number // a_minute, number % a_minute, tzinfo=UTC))

    outcome = sync(source, store)

    assert outcome.certified
    assert mirrored(source, store)
    (proof,) = [evidence for evidence in store.certificates if evidence.kind == "closed" and evidence.rows]
    assert (proof.reason, proof.rows, proof.distinct_ids) == (PROVEN, calls, calls)


@pytest.mark.parametrize("largest_page", [100, 7])
def test_calls_get_their_ids_whatever_the_order_of_each_answer(largest_page: int) -> None:
    """The contract states no order; with the smaller page some days need several."""
    source, store = opened(14, 300)
    source.sorting, source.largest_json_page = "shuffled", largest_page

    outcome = sync(source, store, details="all")

    assert outcome.certified
    assert outcome.notes == ()
    assert store.attached() == Counter((call.csv_row(ZONE), call.details) for call in source.calls)


def test_a_day_whose_list_by_ids_contradicts_itself_is_said() -> None:
    source, store = opened(15, 300)
    read_page = source.page
    source.page = lambda step: replace(read_page(step), total_count=10**6)

    outcome = sync(source, store, details="recent")

    assert "the list by ids is not whole" in outcome.reason
    assert not outcome.certified
    assert mirrored(source, store)


def test_a_list_by_ids_whose_totals_are_wrong_is_asked_twice_once() -> None:
    """A page that contradicts its total is requested again, with pauses."""
    source, store = opened(17, 300)
    read_page, strict = source.page, []

    def lying(step: ReadPage) -> Page:
        page = replace(read_page(replace(step, lenient=True)), total_count=1_000)
        strict.extend([step] * (not step.lenient))
        check_page(step, page)
        return page

    source.page = lying
    sync(source, store, details="all")

    assert len(strict) <= 1_000 // 100, "the pages of one pass"


def test_calls_of_which_none_is_in_the_list_by_ids_are_said() -> None:
    source, store = opened(16, 300)
    read_page = source.page
    source.page = lambda step: replace(read_page(step), rows=(), total_count=0)

    for _ in range(2):
        outcome = sync(source, store, details="recent")

        assert "calls have no counterpart in the JSON list yet" in outcome.reason
        assert not outcome.certified
        assert mirrored(source, store)


def test_a_day_beyond_one_page_is_paged_and_not_certified_if_its_ids_are_refused() -> None:
    """Calls without a proof are better than no calls; new calls come the next time too."""
    source, store = opened(8)
    source.deepest = -1
    for _ in range(95):
        ring(source, BUSY)

    for _ in range(2):
        outcome = sync(source, store)

        assert not outcome.certified
        assert "its 3 pages prove nothing together, and the list by ids is refused: too deep" in outcome.reason
        assert mirrored(source, store)
        ring(source, BUSY)

    source.deepest = None
    assert sync(source, store).certified
    assert mirrored(source, store)


@pytest.mark.parametrize("daily", [False, True])
def test_calls_without_a_json_list_are_stored_and_it_is_reported(*, daily: bool) -> None:
    source, store = opened(9, 60)
    source.deepest = -1
    for _ in range(2):
        outcome = sync(source, store, details="recent")

        assert outcome.reason.startswith("the list by ids is refused (too deep); all calls are read, but")
        assert not outcome.certified
        assert mirrored(source, store)
        source.now += timedelta(days=1) if daily else timedelta(hours=1)
        ring(source)

    source.deepest = None
    assert sync(source, store, details="recent").certified


def test_a_full_page_may_have_a_capped_total_and_is_looked_behind() -> None:
    source, store = opened(3)
    for _ in range(41):
        ring(source, BUSY)
    source.lie = -1  # the total says 40 calls, and a page holds 40

    outcome = sync(source, store)

    assert not outcome.certified
    assert "page 0 holds 41 rows, but its own total of 40 promises 40" in outcome.reason
    assert mirrored(source, store)


def test_a_sync_without_changes_costs_one_request_for_the_live_days() -> None:
    source, store = opened(4, 700)
    sync(source, store)
    source.now += timedelta(hours=1)
    before = source.requests

    sync(source, store)

    assert source.requests - before == 1


def test_an_earlier_start_of_history_reads_only_the_missing_days() -> None:
    source, store = opened(5, 200)
    sync(source, store)
    ring(source, date(2025, 12, 31))
    before = source.requests

    sync(source, store, history_start=date(2025, 12, 1))

    assert mirrored(source, store, date(2025, 12, 1))
    assert source.requests - before == 3


def test_days_with_fewer_calls_than_are_here_are_looked_at_twice() -> None:
    """An answer that is empty for a moment must delete nothing."""
    source, store = opened(6, 300)
    sync(source, store)
    source.now += timedelta(days=1)
    every_call, answers = source.calls, iter([True])

    def empty_once() -> None:
        source.calls = [] if next(answers, False) else every_call

    source.move = empty_once
    sync(source, store)

    assert source.calls == every_call
    assert mirrored(source, store)


def test_a_day_beyond_one_page_that_always_changes_is_uncertified_and_its_stored_calls_stay() -> None:
    """No reading is known to be whole: the last is kept if there was none before."""
    source, store = opened(7)
    for _ in range(195):
        ring(source, BUSY)

    def retold() -> None:
        for place in range(0, 195, 5):
            source.change(place, summary=f"told at {source.requests}")

    source.move = retold

    first = sync(source, store)

    assert not first.certified
    assert "never read completely, in 5 passes over a day beyond one page" in first.reason
    assert len(store.days[BUSY]) == 195
    assert not any(item.certified for item in store.certificates if item.rows)

    kept = list(store.days[BUSY])
    ring(source, BUSY)
    again = sync(source, store)

    assert not again.certified
    assert store.days[BUSY] == kept

    source.move = lambda: None
    assert sync(source, store).certified
    assert mirrored(source, store)


def test_a_day_beyond_one_page_with_an_open_call_is_read_again_once_a_day() -> None:
    source, store = opened(12)
    for _ in range(60):
        ring(source, NOW.date() - timedelta(days=5))
    source.change(0, state="in_progress")
    sync(source, store)
    source.change(0, state="completed")
    before = source.requests

    sync(source, store)

    assert source.requests - before == 1, "the live days"
    source.now += timedelta(days=1)
    sync(source, store)
    assert mirrored(source, store)


@pytest.mark.parametrize("refused", ["more than a week", "days to come"])
def test_a_limit_on_a_range_is_kept(refused: str) -> None:
    """The contract shows no limit, and names the statuses of no other refusal."""
    source, store = opened(10, 300)

    def refuses(first: date, last: date) -> bool:
        today = source.now.astimezone(ZONE).date()
        return last > today if refused == "days to come" else (last - first).days > 6

    source.refuses = refuses
    for _ in range(2):
        outcome = sync(source, store, details="recent")

        assert outcome.certified
        assert mirrored(source, store)
        source.now += timedelta(days=1)
        ring(source)


def test_a_day_in_doubt_keeps_no_later_day_of_a_limited_range_from_being_read() -> None:
    source, store = opened(13, 300)
    for _ in range(95):
        ring(source, HISTORY)
    source.refuses = lambda first, last: (last - first).days > 6
    source.deepest = -1

    outcome = sync(source, store)

    assert not outcome.certified
    assert mirrored(source, store)


def test_days_whose_csv_is_too_large_are_read_in_halves() -> None:
    source, store = opened(11, 300)
    source.most_rows = 12

    assert sync(source, store).certified
    assert mirrored(source, store)


def without_calls(source: ModelCalls, *, json: bool) -> ModelCalls:
    """Let the source answer 404 to a CSV of days without calls, and to the JSON list of them, unless `json`."""
    read_calls, page = source.read_calls, source.page

    def found(query: Query, answer: Any) -> Any:
        if "start_date" in query and not answer.total_count:
            raise NotFound("no calls", status=404)
        return answer

    def read_page(step: ReadPage) -> Any:
        return Page((), 0, None, source.now) if "start_date" not in step.query else page(step)

    source.read_calls = lambda step: found(step.query, read_calls(step))  # pyright: ignore[reportAttributeAccessIssue]
    source.page = read_page if json else lambda step: found(step.query, read_page(step))  # pyright: ignore[reportAttributeAccessIssue]
    return source


@pytest.mark.parametrize("json", [True, False])
def test_days_without_calls_may_be_not_found(*, json: bool) -> None:
    source, store = opened(4, 60)
    source.calls = [call for call in source.calls if source.day(call) < date(2026, 3, 1)]
    source.happened()
    without_calls(source, json=json)

    for _ in range(2):
        assert sync(source, store).certified
        assert mirrored(source, store)
        source.now += timedelta(hours=30)


def test_a_list_of_calls_that_is_not_found_is_no_empty_one() -> None:
    source, store = opened(4, 60)
    source.refuses, source.refusal = lambda _first, _last: True, NotFound("404", status=404)
    source.page = lambda _step: source.read_calls(ReadCalls(calls_query(HISTORY, NOW.date(), size=1), 0, 1))  # pyright: ignore[reportAttributeAccessIssue]

    with pytest.raises(NotFound):
        sync(source, store)


def test_days_that_a_gateway_does_not_wait_for_are_read_in_halves() -> None:
    source, store = opened(11, 300)
    source.refuses, source.refusal = lambda first, last: (last - first).days > 20, TooSlow("504")

    assert sync(source, store).certified
    assert mirrored(source, store)


def test_a_day_on_which_the_platform_fails_is_left_out_and_named() -> None:
    source, store = opened(11, 300)
    broken = source.day(source.calls[40])
    source.refuses, source.refusal = lambda first, last: first <= broken <= last, Failing("500")

    for _ in range(2):
        outcome = sync(source, store)

        assert not outcome.certified
        assert outcome.reason == f"{broken}: 500"
        assert mirrored(source, store, broken + timedelta(days=1))
        assert not store.rows(broken, broken)
        source.now += timedelta(hours=30)
        source.ring(source.now)
    source.refuses = lambda _first, _last: False
    assert sync(source, store).certified
    assert mirrored(source, store)


def test_days_of_which_the_platform_lists_no_ids_have_none() -> None:
    source, store = opened(11, 300)
    page, broken = source.page, source.day(source.calls[40])

    def page_without(step: ReadPage) -> Page:
        answer = page(step)
        if any(row["id"] == source.calls[40].id for row in answer.rows):
            raise Failing("500")
        return answer

    source.page = page_without  # pyright: ignore[reportAttributeAccessIssue]

    outcome = sync(source, store, details="all")

    assert not outcome.certified
    assert outcome.reason.startswith(f"{broken}: 500; all calls are read")
    assert mirrored(source, store)


def test_details_are_later_than_their_calls_although_another_servers_clock_is_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise every day would seem to lack its details."""
    source, store = opened(11, 300)
    page, keep, saves = source.page, store.keep, list[Save]()

    def page_of_another_server(step: ReadPage) -> Page:
        return replace(page(step), server_time=source.now - timedelta(hours=1))

    def noted(save: Save) -> None:
        saves.append(save)
        keep(save)

    monkeypatch.setattr(source, "page", page_of_another_server)
    monkeypatch.setattr(store, "keep", noted)

    assert sync(source, store, details="all").certified

    read_at = max(save.read_at for save in saves if isinstance(save, ReplaceDays))
    details = [save.certificate for save in saves if isinstance(save, AttachDetails)]
    assert details
    assert all(evidence and evidence.finished >= read_at for evidence in details)


def test_a_gateway_that_waits_for_nothing_is_not_asked_for_each_day() -> None:
    source, store = opened(11, 300)
    source.refuses, source.refusal = lambda _first, _last: True, TooSlow("504")

    with pytest.raises(TooSlow):
        sync(source, store)

    assert source.requests < 5


READ_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = date(2026, 2, 28)


def passed(*pages: str, total: int) -> Pass:
    """Return one pass: each page as `id` or `id=value` words, two a page, all with one total."""
    rows = [tuple(row(word) for word in page.split()) for page in pages]
    return Pass(Window(DAY, DAY), tuple(Page(page, total, 2, READ_AT) for page in rows), 2)


def row(word: str) -> Row:
    identity, _, value = word.partition("=")
    return {"id": identity, "summary": value}


@pytest.mark.parametrize(
    ("passes", "proven"),
    [
        ([("a b", "c"), ("c b", "a")], [{"a", "b", "c"}]),
        ([("a b", "b")] * 3, [None, None]),
        ([("a b", "c=1"), ("a b", "c=2"), ("a b", "c=2")], [None, {"a", "b", "c=2"}]),
        ([("a b", "c"), ("a b", "d")], [None]),
        ([("a b", "c"), ("a b", "c"), ("a b", "c d")], [None, None]),
    ],
    ids=[
        "calls that were met before and after, as many as the total, are the day",
        "a call is missed each time, as if each page sorted ties differently",
        "a call that changed in between is not guessed",
        "a call that came and one that went do not make up for each other",
        "a false total makes all passes worthless",
    ],
)
def test_passes_over_a_day_prove_it_or_not(passes: list[tuple[str, ...]], proven: list[set[str] | None]) -> None:
    """By hand, answer by answer: the total of each pass is three."""
    read = [passed(*pages, total=3) for pages in passes]
    found = [rows_at(read, number) for number in range(1, len(read))]

    expected = [words and sorted(map(row, words), key=str) for words in proven]
    assert [calls and sorted(calls, key=str) for calls in found] == expected


def test_no_certificate_is_false_and_every_sync_ends() -> None:
    run_state_machine_as_test(CallMachine, settings=settings(stateful_step_count=15))
