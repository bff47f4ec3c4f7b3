"""The world: reproducible, changing, and with the awkward hours in it."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.partner_side import Partner

import sandbox
from sandbox import VirtualClock, World
from sandbox.world import LISTS
from sandbox.world.characters import Character, Spell
from sandbox.world.ids import number_of, opaque
from sandbox.world.practices import practices

CALLS = 18_000


@pytest.fixture(scope="module")
def year() -> World:
    return World(practices=2, days=365, calls=CALLS)


def created(world: World, practice_id: str) -> list[datetime]:
    frame, _ = world.rows(practice_id, "phone_calls", world.start)
    zone = ZoneInfo(world.practices[practice_id].time_zone)
    return [value.astimezone(zone) for value in frame["created_at"].to_list()]


@pytest.mark.parametrize("name", LISTS)
def test_the_world_does_not_depend_on_earlier_requests(name: str) -> None:
    """The future is drawn month by month, on demand, in any order."""
    patient, hasty = World(practices=1, days=40), World(practices=1, days=40)
    later = patient.start + timedelta(days=70)
    for days in range(0, 70, 7):
        patient.rows("loc-001", name, patient.start + timedelta(days=days))
    assert patient.rows("loc-001", name, later)[0].equals(hasty.rows("loc-001", name, later)[0])


def test_more_practices_leave_the_first_ones_as_they_are(world: World) -> None:
    assert practices(500, world.seed)[: len(world.practices)] == tuple(world.practices.values())


def test_a_spell_multiplies_the_rows_of_its_days_and_of_its_list() -> None:
    first, last = date(2025, 11, 10), date(2025, 11, 23)
    dead = Spell(first, last, calls=0)
    campaign = Spell(first, last, sessions=4)
    world = World(
        practices=3, days=120, characters={1: Character(spells=(dead,)), 2: Character(spells=(campaign,))}
    )

    def counts(practice_id: str, name: str) -> tuple[int, int]:
        zone, (rows, _) = world.practices[practice_id].zone, world.rows(practice_id, name, world.start)
        days = [value.astimezone(zone).date() for value in rows["created_at"].to_list()]
        weeks = timedelta(days=14)
        return sum(first <= day <= last for day in days), sum(first <= day + weeks <= last for day in days)

    assert counts("loc-001", "phone_calls")[0] == 0 < counts("loc-001", "phone_calls")[1]
    now, before = counts("loc-002", "booking_sessions")
    assert 3 * before < now < 5 * before
    now, before = counts("loc-002", "phone_calls")
    assert 0.8 * before < now < 1.2 * before


def test_a_practice_that_has_left_is_refused() -> None:
    start = datetime(2026, 3, 2, 12, tzinfo=UTC)
    characters = {1: Character(left=date(2026, 3, 4))}
    with sandbox.running(frozen=True, practices=2, days=5, start=start, characters=characters) as platform:
        leaving, staying = (Partner(platform, key) for key in ("loc-001", "loc-002"))
        assert [one.get("staff_tasks").status_code for one in (leaving, staying)] == [200, 200]
        platform.advance(timedelta(days=2))
        for one in (leaving, staying):
            one.sign_in()
        assert [one.get("staff_tasks").status_code for one in (leaving, staying)] == [403, 200]


@pytest.mark.parametrize("name", LISTS)
def test_a_list_stays_as_it_is_until_it_says(world: World, name: str) -> None:
    now = world.start
    for _ in range(20):
        rows, until = world.rows("loc-001", name, now)
        just_before, _ = world.rows("loc-001", name, until - timedelta(milliseconds=1))
        assert just_before.equals(rows)
        now = until


def test_ids_are_unique(world: World) -> None:
    for name in LISTS:
        numbers = [n for practice in world.practices for n in world.rows(practice, name, world.start)[0]["number"]]
        assert len(set(numbers)) == len(numbers)


@given(st.integers(min_value=0, max_value=2**43))
def test_ids_lead_back_to_their_number(number: int) -> None:
    assert number_of("call", opaque("call", number)) == number


@given(st.text())
@settings(max_examples=50)
def test_no_text_is_taken_for_an_id_by_accident(text: str) -> None:
    assert number_of("call", text) is None


def test_there_are_calls_around_the_changes_of_the_clock(year: World) -> None:
    """New York set its clocks forward at 2:00 on 9 March 2025, and back at 2:00 on 2 November."""
    moments = created(year, "loc-001")
    spring = {moment.hour for moment in moments if moment.date() == date(2025, 3, 9)}
    assert 2 not in spring
    assert spring & {1, 3}
    autumn = [moment for moment in moments if moment.date() == date(2025, 11, 2)]
    assert any(moment.hour == 1 and moment.fold == 1 for moment in autumn)


def test_calls_come_by_day_and_rarely_on_sundays(year: World) -> None:
    moments = created(year, "loc-001")
    weekdays = Counter(moment.weekday() for moment in moments)
    assert weekdays[6] * 4 < weekdays[0]
    night = [moment for moment in moments if moment.hour < 6]
    assert 0 < len(night) < len(moments) * 0.1


def test_calls_change_state_within_minutes(world: World) -> None:
    seen: dict[int, list[str]] = {}
    now = world.start.replace(hour=19)
    for _ in range(240):
        frame, until = world.rows("loc-001", "phone_calls", now)
        for number, state in frame.tail(30).select("number", "state").iter_rows():
            states = seen.setdefault(number, [])
            if state not in states:
                states.append(state)
        now = max(until, now + timedelta(seconds=1))
    lives = {tuple(states) for states in seen.values()}
    assert ("ringing", "in_progress", "completed") in lives
    begun = [life[: life.index("in_progress")] for life in lives if "in_progress" in life]
    assert ("pending", "queued", "ringing") in begun
    assert ("ringing",) in begun


def test_some_calls_change_days_later(world: World) -> None:
    def calls_at(moment: datetime) -> dict[int, dict[str, Any]]:
        frames = [world.rows(practice, "phone_calls", moment)[0] for practice in world.practices]
        rows = pl.concat(frames).drop("valid_from", "valid_to").to_dicts()
        return {row["number"]: row for row in rows}

    before, after = calls_at(world.start), calls_at(world.start + timedelta(days=10))
    final = {number for number, row in before.items() if row["state"] == "completed"}
    changed = [number for number in final if before[number] != after[number]]
    assert changed
    assert all(before[n]["created_at"] == after[n]["created_at"] for n in changed)
    assert any(before[n]["outcome"] != after[n]["outcome"] for n in changed)
    assert any(before[n]["summary"] != after[n]["summary"] for n in changed)


def test_a_running_clock_goes_with_the_wall() -> None:
    wall = iter([10.0, 12.5])
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC), monotonic=lambda: next(wall))
    assert clock.now() == datetime(2026, 1, 1, 0, 0, 2, 500_000, tzinfo=UTC)
