"""Phone calls by whole days: stories of single readings. The invariants are in `test_call_machine`."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from support.call_store import CallStore
from support.model_calls import ModelCalls, Sorting
from support.model_driver import Driver, Killed

from pipelines.core.endpoint import DateWindows
from pipelines.core.list_read import Outcome, Reading
from pipelines.core.pages import Page, Row, Window
from pipelines.core.steps import ReadPage
from pipelines.endpoints.phone_calls import PHONE_CALLS
from pipelines.reading.paging import Pass
from pipelines.strategies.phone_calls import date_windows
from pipelines.strategies.phone_calls.crowded_days import PROVEN, rows_at

HISTORY = date(2026, 1, 10)
NOW = datetime(2026, 3, 10, 15, tzinfo=UTC)
NOON = timedelta(hours=17)
ZONE = ZoneInfo("America/New_York")


def sync(
    source: ModelCalls,
    store: CallStore,
    rng: Random,
    *,
    history_start: date = HISTORY,
    details: Literal["off", "recent"] = "off",
) -> Outcome:
    reading = Reading(
        endpoint=PHONE_CALLS,
        names=PHONE_CALLS.names,
        now=source.now,
        time_zone=ZONE,
        history_start=history_start,
        cursor=dict(store.cursor),
        details=details,
    )
    return Driver(source, store, rng).run(date_windows.read(reading, DateWindows(csv_page_size=40)))


def ring(source: ModelCalls, rng: Random, day: date | None = None) -> None:
    at = source.now if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC) + NOON
    source.ring(at, phone=f"+{rng.randint(0, 5)}")


def opened(rng: Random, rows: int = 0) -> tuple[ModelCalls, CallStore]:
    """Return a practice with so many calls, on any days, and an empty store."""
    source = ModelCalls(rng, NOW, ZONE)
    days = (NOW.date() - HISTORY).days
    for _ in range(rows):
        ring(source, rng, HISTORY + timedelta(days=rng.randrange(days)))
    return source, CallStore(ZONE)


def mirrored(source: ModelCalls, store: CallStore, first: date = HISTORY) -> bool:
    days = (first, source.now.date() + timedelta(days=1))
    return store.rows(*days) == source.rows(*days)


@pytest.mark.parametrize(("changed", "later"), [(30, 1), (60, 7)])
def test_a_call_of_the_last_35_days_is_seen_to_change_the_next_day_and_any_call_in_a_week(
    changed: int, later: int
) -> None:
    rng = Random(1)
    source, store = opened(rng, 300)
    sync(source, store, rng)
    source.now += timedelta(days=later)
    for place, call in enumerate(source.calls):
        if source.day(call) >= source.now.date() - timedelta(days=changed):
            source.change(place, outcome="appointment_booked")

    sync(source, store, rng)

    assert mirrored(source, store)


def test_a_killed_sync_of_a_source_whose_clock_was_put_back_hides_no_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def killed(step: ReadPage) -> Page:
        raise Killed(step)

    rng = Random(2)
    source, store = opened(rng, 100)
    ring(source, rng, NOW.date() - timedelta(days=5))
    sync(source, store, rng, details="recent")
    source.now -= timedelta(days=1)
    source.change(-1, outcome="abandoned")
    with monkeypatch.context() as patch:
        patch.setattr(source, "page", killed)
        with pytest.raises(Killed):
            sync(source, store, rng, details="recent")
    source.now += timedelta(days=1)
    source.change(-1, outcome="appointment_booked")

    sync(source, store, rng, details="recent")

    assert mirrored(source, store)


@pytest.mark.parametrize(
    ("sorting", "calls", "a_minute"), [("listed", 170, 3), ("per page", 170, 3), ("per answer", 900, 45)]
)
def test_a_day_beyond_one_page_is_read_by_ids(sorting: Sorting, calls: int, a_minute: int) -> None:
    """This also holds if each page, or each answer, sorts calls of one minute differently: a pass misses some."""
    rng = Random(3)
    source, store = opened(rng)
    source.sorting = sorting
    for number in range(calls):
        source.ring(datetime(2026, 2, 3, 15, number // a_minute, number % a_minute, tzinfo=UTC))

    outcome = sync(source, store, rng)

    assert outcome.certified
    assert mirrored(source, store)
    (proof,) = [evidence for evidence in store.certificates if evidence.kind == "closed" and evidence.rows]
    assert (proof.reason, proof.rows, proof.distinct_ids) == (PROVEN, calls, calls)


def test_a_day_beyond_one_page_is_paged_and_not_certified_if_its_ids_are_refused() -> None:
    """Calls without a proof are better than no calls; new calls come the next time too."""
    rng, busy = Random(8), date(2026, 2, 3)
    source, store = opened(rng)
    source.deepest = -1
    for _ in range(95):
        ring(source, rng, busy)

    for _ in range(2):
        outcome = sync(source, store, rng)

        assert not outcome.certified
        assert "its 3 pages prove nothing together, and the list by ids is refused: too deep" in outcome.reason
        assert mirrored(source, store)
        ring(source, rng, busy)

    source.deepest = None
    assert sync(source, store, rng).certified
    assert mirrored(source, store)


@pytest.mark.parametrize("daily", [False, True])
def test_calls_without_a_json_list_are_stored_and_it_is_reported(*, daily: bool) -> None:
    rng = Random(9)
    source, store = opened(rng, 60)
    source.deepest = -1
    for _ in range(2):
        outcome = sync(source, store, rng, details="recent")

        assert outcome.reason.startswith("the list by ids is refused (too deep); all calls are read, but")
        assert not outcome.certified
        assert mirrored(source, store)
        source.now += timedelta(days=1) if daily else timedelta(hours=1)
        ring(source, rng)

    source.deepest = None
    assert sync(source, store, rng, details="recent").certified


def test_a_full_page_may_have_a_capped_total_and_is_looked_behind() -> None:
    rng, busy = Random(3), date(2026, 2, 3)
    source, store = opened(rng)
    for _ in range(41):
        ring(source, rng, busy)
    source.lie = -1  # the total says 40 calls, and a page holds 40

    outcome = sync(source, store, rng)

    assert not outcome.certified
    assert "page 0 holds 41 rows, but its own total of 40 promises 40" in outcome.reason
    assert mirrored(source, store)


def test_a_sync_without_changes_costs_one_request_for_the_live_days() -> None:
    rng = Random(4)
    source, store = opened(rng, 700)
    sync(source, store, rng)
    source.now += timedelta(hours=1)
    before = source.requests

    sync(source, store, rng)

    assert source.requests - before == 1


def test_an_earlier_start_of_history_reads_only_the_missing_days() -> None:
    rng = Random(5)
    source, store = opened(rng, 200)
    sync(source, store, rng)
    ring(source, rng, date(2025, 12, 31))
    before = source.requests

    sync(source, store, rng, history_start=date(2025, 12, 1))

    assert mirrored(source, store, date(2025, 12, 1))
    assert source.requests - before == 3


def test_days_with_fewer_calls_than_are_here_are_looked_at_twice() -> None:
    """An answer that is empty for a moment must delete nothing."""
    rng = Random(6)
    source, store = opened(rng, 300)
    sync(source, store, rng)
    source.now += timedelta(days=1)
    every_call, answers = source.calls, iter([True])

    def empty_once() -> None:
        source.calls = [] if next(answers, False) else every_call

    source.move = empty_once
    sync(source, store, rng)

    assert source.calls == every_call
    assert mirrored(source, store)


def test_a_day_beyond_one_page_that_always_changes_is_uncertified_and_its_stored_calls_stay() -> None:
    """No reading is known to be whole: the last is kept if there was none before."""
    rng, busy = Random(7), date(2026, 2, 3)
    source, store = opened(rng)
    for _ in range(195):
        ring(source, rng, busy)

    def retold() -> None:
        for place in range(0, 195, 5):
            source.change(place, summary=f"told at {source.requests}")

    source.move = retold

    first = sync(source, store, rng)

    assert not first.certified
    assert "never read completely, in 5 passes over a day beyond one page" in first.reason
    assert len(store.days[busy]) == 195
    assert not any(item.certified for item in store.certificates if item.rows)

    kept = list(store.days[busy])
    ring(source, rng, busy)
    again = sync(source, store, rng)

    assert not again.certified
    assert store.days[busy] == kept

    source.move = lambda: None
    assert sync(source, store, rng).certified
    assert mirrored(source, store)


@pytest.mark.parametrize("refused", ["more than a week", "days to come"])
def test_a_limit_on_a_range_is_kept(refused: str) -> None:
    """The contract shows no limit, and names the statuses of no other refusal."""
    rng = Random(10)
    source, store = opened(rng, 300)

    def refuses(first: date, last: date) -> bool:
        today = source.now.astimezone(ZONE).date()
        return last > today if refused == "days to come" else (last - first).days > 6

    source.refuses = refuses
    for _ in range(2):
        outcome = sync(source, store, rng, details="recent")

        assert outcome.certified
        assert mirrored(source, store)
        source.now += timedelta(days=1)
        ring(source, rng)


def test_days_whose_csv_is_too_large_are_read_in_halves() -> None:
    rng = Random(11)
    source, store = opened(rng, 300)
    source.most_rows = 12

    assert sync(source, store, rng).certified
    assert mirrored(source, store)


READ_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = date(2026, 2, 28)


def passed(*pages: str, total: int) -> Pass:
    """Return one pass: each page as `id` or `id=value` words, two a page, all with one total."""
    rows = [tuple(row(word) for word in page.split()) for page in pages]
    return Pass(Window(DAY, DAY), tuple(Page(page, total, None, 2, READ_AT) for page in rows), 2)


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
