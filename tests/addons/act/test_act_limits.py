"""The reasons for which nothing is sent, or less than a plan has: each is one line."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import pytest
from support.act_world import ActWorld, AtTasks, Unbooked, unbooked
from support.sandbox_settings import synced
from vetl.addons.act.job import apply_acts, plan_acts
from vetl.addons.act.ledger import utc_now
from vetl.addons.act.settings import ActSettings
from vetl.core.errors import ConfigurationError, LedgerError, WarehouseError, WrongUse
from vetl.store import sqlite_file
from vetl_sandbox import Fault

TASKS = "POST */staff_tasks"


def test_caps_hold_over_several_plans_of_a_day(world: ActWorld) -> None:
    world.build(unbooked(5))
    capped = world.act(per_practice_per_day=2)

    first, second = world.plan_and_apply(capped), world.plan_and_apply(capped)
    world.platform.advance(timedelta(days=1))
    world.sync()
    world.build(unbooked(5))
    third = world.plan_and_apply(capped)

    assert (first.sent, second.sent, third.sent) == (2, 0, 2)


def test_nothing_leaves_in_quiet_hours(world: ActWorld) -> None:
    world.build(unbooked(2))

    result = world.plan_and_apply(world.act(quiet_hours=(0, 24)))

    assert (result.sent, [held.reason for held in result.held_back]) == (0, ["quiet_hours", "quiet_hours"])
    assert world.posts() == 0


def test_the_kill_switch_is_a_setting_and_a_file(world: ActWorld) -> None:
    digest = world.plan(unbooked(1))
    with pytest.raises(ConfigurationError, match=r"stopped by act\.stop; nothing is sent"):
        apply_acts(world.act(stop=True), digest)
    ActSettings.of(world.settings).stop_file.touch()
    with pytest.raises(ConfigurationError, match=r"act\.stop; nothing is sent"):
        apply_acts(world.settings, digest)

    assert world.posts() == 0


def test_the_kill_switch_stops_an_applier_at_work(world: ActWorld) -> None:
    digest = world.plan(unbooked(3))

    def stop(method: str) -> None:
        if method == "POST":
            ActSettings.of(world.settings).stop_file.touch()

    world.platform.platform.faults = AtTasks(stop)

    result = apply_acts(world.settings, digest)

    assert (result.sent, len(result.held_back)) == (1, 2)
    assert {held.reason for held in result.held_back} == {"stopped"}


def test_acting_is_off_by_default(world: ActWorld) -> None:
    world.build(unbooked(1))
    with pytest.raises(ConfigurationError, match=r"act\.enabled is false: nothing is sent"):
        apply_acts(world.act(enabled=False), "0" * 16)


def test_a_plan_that_no_longer_fits_or_is_of_another_ledger_is_refused(world: ActWorld) -> None:
    digest = world.plan(unbooked(2))
    world.build(unbooked(3))

    for other, line in (
        (digest, "no longer fits the data"),
        ("feedface" * 2, "no such plan was made with this ledger"),
    ):
        with pytest.raises(WrongUse, match=line):
            apply_acts(world.settings, other)
    assert world.posts() == 0


def test_a_practice_that_refuses_writing_is_one_line(world: ActWorld) -> None:
    digest = world.plan(unbooked(3))
    world.platform.faults.set([Fault("status", status=403, path=TASKS, in_a_row=None)])

    result = apply_acts(world.settings, digest)

    assert result.exit_code == 1
    assert len(result.failures) == 1
    assert "403" in result.failures[0]
    assert (world.codes(), world.posts()) == ([], 1)
    world.platform.faults.set([])
    assert apply_acts(world.settings, digest).sent == 2, "whether the refused one was made is not proven yet"
    world.platform.advance(timedelta(minutes=16))
    assert apply_acts(world.settings, digest).sent == 1


def test_a_refused_task_is_not_sent_again_by_itself(world: ActWorld) -> None:
    world.build([Unbooked(0, client_id="no-such-client")])

    first = world.plan_and_apply()

    assert (first.sent, first.exit_code) == (0, 1)
    assert [held.reason for held in plan_acts(world.settings, None).held_back] == ["refused"]


def test_a_request_that_nobody_can_reach_is_held_back(world: ActWorld) -> None:
    world.build([Unbooked(0, phone_number=None), Unbooked(1, phone_number="ask at the desk"), Unbooked(2)])

    plan = plan_acts(world.settings, None)

    assert [held.reason for held in plan.held_back] == ["unreachable", "unreachable"]
    assert len(plan.acts) == 1


def two_requests(world: ActWorld) -> None:
    world.build(unbooked(2))


def lists_lie(world: ActWorld) -> None:
    world.platform.set(staff_tasks={"told_total": 10_000})
    synced(world.settings, reconcile="full")
    two_requests(world)


def lists_are_newer(world: ActWorld) -> None:
    two_requests(world)
    world.platform.advance(timedelta(minutes=5))
    world.sync()


@pytest.mark.parametrize(
    ("happen", "away", "reason"),
    [
        (lists_lie, timedelta(), "uncertified"),
        (lists_are_newer, timedelta(), "not_built"),
        (two_requests, timedelta(hours=27), "too_old"),
        (two_requests, timedelta(days=-1), "too_old"),  # the clock was put back
    ],
)
def test_data_that_cannot_be_relied_on_holds_a_practice_back(
    happen: Callable[[ActWorld], None], away: timedelta, reason: str, world: ActWorld
) -> None:
    happen(world)
    plan = plan_acts(world.settings, None, now=lambda: utc_now() + away)

    assert {held.reason for held in plan.held_back} == {reason}


def test_without_marts_there_is_one_line(world: ActWorld) -> None:
    with pytest.raises(WarehouseError, match="run `vetl run` first"):
        plan_acts(world.settings, None)


def test_nothing_is_sent_if_the_disk_is_full(world: ActWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = world.plan(unbooked(2))

    def full(**_: object) -> BinaryIO:
        return Path("/dev/full").open("wb")

    monkeypatch.setattr(sqlite_file, "TemporaryFile", full)
    with pytest.raises(LedgerError, match="No space left on device"):
        apply_acts(world.settings, digest)

    assert world.posts() == 0
