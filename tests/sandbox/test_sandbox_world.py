"""The world: reproducible, changing, with the awkward hours in it, and true to the contract; and its memory."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
import vetl_sandbox
import vetl_sandbox.platform
from support.partner_side import Partner, by_id
from vetl.core.zones import zone
from vetl_sandbox import World
from vetl_sandbox.world import LISTS
from vetl_sandbox.world.hours import millis, to_instant, to_local


@pytest.mark.parametrize("name", LISTS)
def test_the_world_does_not_depend_on_earlier_requests(name: str) -> None:
    """The future is drawn month by month, on demand, in any order."""
    patient, hasty = World(practices=1, days=40), World(practices=1, days=40)
    later = patient.start + timedelta(days=70)
    for days in range(0, 70, 7):
        patient.rows("loc-001", name, patient.start + timedelta(days=days))
    assert patient.rows("loc-001", name, later)[0].equals(hasty.rows("loc-001", name, later)[0])


@pytest.mark.parametrize("name", LISTS)
def test_a_list_stays_as_it_is_until_it_says(world: World, name: str) -> None:
    now = world.start
    for _ in range(20):
        rows, until = world.rows("loc-001", name, now)
        just_before, _ = world.rows("loc-001", name, until - timedelta(milliseconds=1))
        assert just_before.equals(rows)
        now = until


def test_the_world_converts_by_the_rules_that_vetl_converts_by() -> None:
    """British Columbia stayed on summer time on 1 November 2026; polars has older rules."""
    name = "America/Vancouver"
    hours = [datetime(2026, month, 20, hour, tzinfo=UTC) for month in (3, 10, 11, 12) for hour in range(24)]
    instants = np.array([millis(hour) for hour in hours])

    local = to_local(instants, name)

    assert local.tolist() == [millis(hour.astimezone(zone(name)).replace(tzinfo=UTC)) for hour in hours]
    assert to_instant(local, name).tolist() == instants.tolist()


def test_there_are_calls_around_the_changes_of_the_clock() -> None:
    """New York set its clocks forward at 2:00 on 9 March 2025, and back at 2:00 on 2 November."""
    year = World(practices=2, days=365, calls=18_000)
    calls, _ = year.rows("loc-001", "phone_calls", year.start)
    moments = [value.astimezone(year.practices["loc-001"].zone) for value in calls["created_at"].to_list()]
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


def test_lists_that_were_put_away_come_back_the_same(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    platform = partner.platform.platform
    keys = [(practice.id, name) for practice in partner.platform.practices for name in LISTS]

    def at_hand() -> int:
        return sum(platform.table(*key).rows_at_hand for key in keys)

    task = partner.truth("staff_tasks")[0]["id"]
    partner.platform.update("loc-001", "staff_tasks", task, {"title": "written"})
    before = {key: partner.platform.truth(*key) for key in keys}
    rows = at_hand()
    monkeypatch.setattr(vetl_sandbox.platform, "_ROWS_AT_HAND", 1000)
    platform.table("loc-001", "phone_calls").put_away()
    for _ in range(2):
        assert {key: partner.platform.truth(*key) for key in keys} == before
    assert any(row["title"] == "written" for row in before["loc-001", "staff_tasks"])
    assert at_hand() < rows / 2
