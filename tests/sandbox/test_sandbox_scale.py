"""The memory of a large world: lists that nobody asks for are dropped, and come back unchanged."""

import pytest
from support.partner_side import Partner

import sandbox.platform
from sandbox.world import LISTS


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


def test_lists_in_use_stay_at_hand(partner: Partner) -> None:
    read_all(partner)
    assert at_hand(partner) == sum(len(rows) for rows in read_all(partner).values())
