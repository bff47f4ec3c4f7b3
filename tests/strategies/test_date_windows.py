"""Phone calls by whole days, from a model CSV whose calls change without a trace."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st
from support.model_driver import Driver
from support.model_source import ModelCalls
from support.model_store import ModelStore

from pipelines.endpoint import DateWindows
from pipelines.endpoints.phone_calls import PHONE_CALLS
from pipelines.strategies import date_windows
from pipelines.strategies.reading import Outcome, Reading

HISTORY = date(2026, 1, 10)
NOW = datetime(2026, 3, 10, 15, tzinfo=UTC)
ZONE = ZoneInfo("America/New_York")


def sync(source: ModelCalls, store: ModelStore, rng: Random, *, page: int = 40) -> Outcome:
    reading = Reading(
        endpoint=PHONE_CALLS,
        names=PHONE_CALLS.names,
        now=source.now,
        time_zone=ZONE,
        history_start=HISTORY,
        cursor=dict(store.cursor),
        details="off",
    )
    return Driver(source, store, rng).run(date_windows.plan(reading, DateWindows(csv_page_size=page)))


def ring(source: ModelCalls, rng: Random, day: date | None = None) -> None:
    local_day = day or source.now.astimezone(ZONE).date()
    source.calls.append({"day": local_day, "state": "completed", "number": rng.randint(0, 5), "outcome": None})


def filled(rng: Random, rows: int) -> ModelCalls:
    source = ModelCalls(rng, NOW)
    days = (NOW.date() - HISTORY).days
    for _ in range(rows):
        ring(source, rng, HISTORY + timedelta(days=rng.randrange(days + 1)))
    return source


def mirrored(source: ModelCalls, store: ModelStore) -> bool:
    first, last = HISTORY, source.now.date() + timedelta(days=1)
    here = [row for day, rows in store.days.items() if first <= day <= last for row in rows]
    there = source.calls_of(first, last)
    return sorted(map(repr, here)) == sorted(map(repr, there))


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 700))
def test_a_source_at_rest_is_mirrored(seed: int, rows: int) -> None:
    rng = Random(seed)
    source, store = filled(rng, rows), ModelStore()

    outcome = sync(source, store, rng)

    assert mirrored(source, store)
    assert outcome.certified


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 300), pace=st.floats(0, 0.5))
def test_no_certified_day_misses_a_call_while_calls_come_in(seed: int, rows: int, pace: float) -> None:
    rng = Random(seed)
    source, store = filled(rng, rows), ModelStore()
    source.move = lambda: ring(source, rng) if rng.random() < pace else None
    for _ in range(3):
        outcome = sync(source, store, rng)
        assert outcome.certified
        source.now += timedelta(hours=rng.randint(1, 50))
    source.move = lambda: None
    sync(source, store, rng)

    assert mirrored(source, store)


def test_a_call_that_changed_within_the_last_35_days_is_seen_the_next_day() -> None:
    rng = Random(1)
    source, store = filled(rng, 300), ModelStore()
    sync(source, store, rng)
    source.now += timedelta(days=1)
    for call in source.calls:
        if call["day"] >= source.now.date() - timedelta(days=30):
            call["outcome"] = "appointment_booked"

    sync(source, store, rng)

    assert mirrored(source, store)


def test_a_call_that_changed_long_ago_is_seen_within_a_week() -> None:
    rng = Random(2)
    source, store = filled(rng, 300), ModelStore()
    sync(source, store, rng)
    for call in source.calls:
        call["outcome"] = "resolved"
    source.now += timedelta(days=7)

    sync(source, store, rng)

    assert mirrored(source, store)


def test_a_day_beyond_one_page_counts_when_two_passes_agree() -> None:
    rng = Random(3)
    source, store = ModelCalls(rng, NOW), ModelStore()
    for _ in range(95):
        ring(source, rng, date(2026, 2, 3))

    outcome = sync(source, store, rng)

    assert mirrored(source, store)
    assert outcome.certified
    assert any(evidence.reason == "two passes hold the same rows" for evidence in store.certificates)


def test_a_sync_without_changes_costs_one_request_for_the_live_days() -> None:
    rng = Random(4)
    source, store = filled(rng, 700), ModelStore()
    sync(source, store, rng)
    source.now += timedelta(hours=1)
    before = source.requests

    sync(source, store, rng)

    assert source.requests - before == 1


def test_an_earlier_start_of_history_reads_only_what_is_missing() -> None:
    rng = Random(5)
    source, store = filled(rng, 200), ModelStore()
    sync(source, store, rng)
    ring(source, rng, date(2025, 12, 31))
    reading = Reading(
        endpoint=PHONE_CALLS,
        names=PHONE_CALLS.names,
        now=source.now,
        time_zone=ZONE,
        history_start=date(2025, 12, 1),
        cursor=dict(store.cursor),
        details="off",
    )
    before = source.requests

    Driver(source, store, rng).run(date_windows.plan(reading, DateWindows(csv_page_size=40)))

    assert sum(len(rows) for rows in store.days.values()) == len(source.calls)
    assert source.requests - before == 3


def test_days_with_fewer_calls_than_are_here_are_looked_at_twice() -> None:
    """So that an answer that is empty for a moment deletes nothing."""
    rng = Random(6)
    source, store = filled(rng, 300), ModelStore()
    sync(source, store, rng)
    source.now += timedelta(days=1)
    every_call, answers = source.calls, iter([True])

    def empty_once() -> None:
        source.calls = [] if next(answers, False) else every_call

    source.move = empty_once
    sync(source, store, rng)

    assert source.calls == every_call
    assert mirrored(source, store)


def test_a_day_beyond_one_page_that_never_rests_is_uncertified_and_what_was_known_of_it_stays() -> None:
    """Without ids nothing tells which of two readings is whole: the first is kept where there was none before."""
    rng, busy = Random(7), date(2026, 2, 3)
    source, store = ModelCalls(rng, NOW), ModelStore()
    for _ in range(95):
        ring(source, rng, busy)
    source.move = lambda: source.calls.insert(0, source.calls.pop())

    first = sync(source, store, rng)

    assert not first.certified
    assert "no two passes over a day beyond one page agree" in first.reason
    assert len(store.days[busy]) == 95
    assert not any(item.certified for item in store.certificates if item.rows)

    known = list(store.days[busy])
    source.calls.append({"day": busy, "state": "completed", "number": 9, "outcome": None})
    again = sync(source, store, rng)

    assert not again.certified
    assert store.days[busy] == known

    source.move = lambda: None
    assert sync(source, store, rng).certified
    assert mirrored(source, store)
