"""The world: reproducible, changing, with the awkward hours in it, and true to the contract; and its memory."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from support.partner_side import Partner, by_id

import sandbox
import sandbox.platform
from sandbox import World
from sandbox.world import LISTS
from sandbox.world.characters import Character, Spell
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


def test_there_are_calls_around_the_changes_of_the_clock(year: World) -> None:
    """New York set its clocks forward at 2:00 on 9 March 2025, and back at 2:00 on 2 November."""
    moments = created(year, "loc-001")
    spring = {moment.hour for moment in moments if moment.date() == date(2025, 3, 9)}
    assert 2 not in spring
    assert spring & {1, 3}
    autumn = [moment for moment in moments if moment.date() == date(2025, 11, 2)]
    assert any(moment.hour == 1 and moment.fold == 1 for moment in autumn)


@pytest.mark.parametrize("name", ["appointments", "staff_tasks"])
def test_updated_at_moves_with_every_change(partner: Partner, name: str) -> None:
    partner.platform.advance(timedelta(hours=27))
    before = by_id(partner.truth(name))
    partner.platform.advance(timedelta(days=4))
    after = by_id(partner.truth(name))
    changed = [key for key in before if before[key] != after[key]]
    assert changed
    assert all(before[key]["updated_at"] < after[key]["updated_at"] for key in changed)


@pytest.mark.parametrize("name", ["phone_calls", "ai_outbound", "staff_tasks"])
def test_people_that_rows_mention_exist(partner: Partner, name: str) -> None:
    clients = {client["id"] for client in partner.truth("clients")}
    patients = {patient["id"]: patient for patient in partner.truth("patients")}
    for row in partner.truth(name):
        assert row["client_id"] is None or row["client_id"] in clients
        assert row["patient_id"] is None or patients[row["patient_id"]]["client_id"] == row["client_id"]


def at_hand(partner: Partner) -> int:
    platform = partner.platform.platform
    names = [(practice.id, name) for practice in partner.platform.practices for name in LISTS]
    return sum(platform.table(*key).rows_at_hand for key in names)


def read_all(partner: Partner) -> dict[str, list[dict[str, object]]]:
    return {
        f"{practice.id} {name}": partner.platform.truth(practice.id, name)
        for practice in partner.platform.practices
        for name in LISTS
    }


def test_lists_that_were_put_away_come_back_the_same(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    task = partner.truth("staff_tasks")[0]["id"]
    partner.platform.update("loc-001", "staff_tasks", task, {"title": "written"})
    before = read_all(partner)
    rows = at_hand(partner)
    monkeypatch.setattr(sandbox.platform, "_ROWS_AT_HAND", 1000)
    read_all(partner)
    partner.platform.platform.table("loc-001", "phone_calls").put_away()
    assert read_all(partner) == before
    assert any(row["title"] == "written" for row in before["loc-001 staff_tasks"])
    assert at_hand(partner) < rows / 2
