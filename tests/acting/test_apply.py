"""Plans are applied against a real platform: each wish becomes one task, whatever happens on the way."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import duckdb
import pytest
from support.act_world import PRACTICE, ActWorld, Leak, leaks

from pipelines.core.errors import ConfigurationError, LedgerError, WarehouseBusy, WarehouseError, WrongUse
from pipelines.jobs.act import apply_acts, plan_acts
from pipelines.jobs.act_status import act_status, utc_now
from pipelines.loading.writer_lock import writing
from sandbox import Fault
from sandbox.faults import Faults

TASKS = "POST */staff_tasks"
LATER = timedelta(minutes=16)


def posts(world: ActWorld) -> int:
    """Return how many requests asked for a task."""
    return sum(
        seen.method == "POST" and seen.path.endswith("/staff_tasks") for seen in world.platform.requests.log
    )


def test_each_leak_becomes_one_task(world: ActWorld) -> None:
    world.build(leaks(5))
    plan = plan_acts(world.settings, None)

    result = apply_acts(world.settings, plan.digest)

    assert (result.sent, result.adopted, result.unknown, result.exit_code) == (5, 0, 0, 0)
    assert sorted(world.codes()) == sorted(act.code for act in plan.acts)
    assert {task["title"] for task in world.tasks()} == {"Call back about scheduling"}


def test_a_plan_that_was_applied_sends_nothing_more(world: ActWorld) -> None:
    world.build(leaks(3))
    digest = plan_acts(world.settings, None).digest
    apply_acts(world.settings, digest)

    assert apply_acts(world.settings, digest).sent == 0
    assert world.plan_and_apply().sent == 0
    assert len(world.codes()) == 3


def test_a_plan_needs_no_request(world: ActWorld) -> None:
    world.build(leaks(3))
    before = len(world.platform.requests.log)

    plan_acts(world.settings, None)
    act_status(world.settings)

    assert len(world.platform.requests.log) == before


def test_the_ledger_belongs_to_its_owner(world: ActWorld) -> None:
    world.build(leaks(1))
    world.plan_and_apply()

    assert stat.S_IMODE(world.settings.act.ledger.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "fault",
    [
        Fault("closed", path=TASKS, in_a_row=None),
        Fault("failed_late", path=TASKS, in_a_row=None, status=502),
        Fault("id_missing", path=TASKS, in_a_row=None),
    ],
    ids=lambda fault: fault.kind,
)
def test_a_task_whose_answer_is_lost_is_adopted_and_not_made_again(world: ActWorld, fault: Fault) -> None:
    world.build(leaks(4))
    world.platform.faults.set([fault])

    result = world.plan_and_apply()

    assert (result.sent, result.adopted, result.unknown, result.exit_code) == (0, 4, 0, 0)
    assert len(world.codes()) == len(set(world.codes())) == 4
    assert posts(world) == 4


def test_a_request_without_an_answer_is_not_sent_again_before_the_time_to_settle_is_over(world: ActWorld) -> None:
    world.build(leaks(2))
    world.platform.faults.set([Fault("status", path=TASKS, most=2, in_a_row=None)])
    digest = plan_acts(world.settings, None).digest

    first = apply_acts(world.settings, digest)
    at_once = apply_acts(world.settings, digest)
    held = plan_acts(world.settings, None).held_back
    world.platform.advance(LATER)
    later = apply_acts(world.settings, digest)

    assert (first.unknown, first.exit_code, at_once.unknown, at_once.exit_code) == (2, 3, 2, 3)
    assert [item.reason for item in held] == ["unknown", "unknown"]
    assert (later.sent, later.unknown, later.exit_code) == (2, 0, 0)
    assert posts(world) == 4
    assert len(set(world.codes())) == len(world.codes()) == 2


def test_nothing_is_sent_while_totals_lie(world: ActWorld) -> None:
    world.build(leaks(2))
    world.platform.faults.set([Fault("status", path=TASKS, most=2, in_a_row=None)])
    digest = plan_acts(world.settings, None).digest
    apply_acts(world.settings, digest)
    world.platform.advance(LATER)
    world.platform.set(staff_tasks={"told_total": 10_000})

    result = apply_acts(world.settings, digest)

    assert (result.sent, result.unknown, result.exit_code) == (0, 2, 3)
    assert any("not certified" in doubt for doubt in result.doubts)
    assert posts(world) == 2


def test_a_list_that_shows_pending_tasks_only_proves_no_absence(world: ActWorld) -> None:
    """The status filter is ignored and every row is pending, so tasks in other statuses may be hidden."""
    for task in world.platform.truth(PRACTICE, "staff_tasks"):
        world.platform.update(PRACTICE, "staff_tasks", task["id"], {"status": "pending", "finalized_at": None})
    world.platform.set(staff_tasks={"ignored": ["status"]})
    world.sync()
    world.build(leaks(1))

    result = world.plan_and_apply()

    assert (result.sent, result.exit_code) == (0, 3)
    assert "status is not known" in result.doubts[0]


def test_a_person_who_rewrites_a_task_at_once_owns_it(world: ActWorld) -> None:
    """The answer comes, but the code is gone from the task: the id is known."""
    world.build(leaks(1))
    world.platform.faults.set([Fault("edited", path=TASKS)])
    world.plan_and_apply()
    world.sync()
    world.build([Leak(0, booked=True)])

    result = world.plan_and_apply()

    assert result.canceled == 0
    assert act_status(world.settings).entries[0].state == "left"


class Meddler(Faults):
    """Loses each answer about a created task, and then a person rewrites the task before it is read."""

    def __init__(self, world: ActWorld) -> None:
        super().__init__()
        self._world = world
        self._is_due = False

    def strike(self, path: str, event: str, /) -> Fault | None:
        """Return the fault of this request."""
        del event
        if path.startswith("POST ") and path.endswith("/staff_tasks"):
            self._is_due = True
            return Fault("failed_late")
        if self._is_due and path.endswith("/staff_tasks"):
            for task in self._world.tasks():
                self._world.platform.update(PRACTICE, "staff_tasks", task["id"], {"description": "Ann calls them"})
            self._is_due = False
        return None


def test_a_task_that_lost_its_code_is_found_by_its_reference_time(world: ActWorld) -> None:
    world.build(leaks(2))
    world.platform.platform.faults = Meddler(world)

    result = world.plan_and_apply()

    assert (result.sent, result.adopted, result.unknown) == (0, 2, 0)
    assert [entry.found_by for entry in act_status(world.settings).entries] == ["reference", "reference"]
    assert posts(world) == 2


def test_a_lost_ledger_makes_no_task_twice(world: ActWorld) -> None:
    world.build(leaks(3))
    world.plan_and_apply()
    world.settings.act.ledger.unlink()
    (world.settings.act.ledger.parent / "acts.sqlite-wal").unlink(missing_ok=True)

    first = world.plan_and_apply()
    world.platform.advance(LATER)
    world.sync()
    world.build(leaks(4))
    second = world.plan_and_apply()

    assert first.sent == 0
    assert second.sent == 1
    assert len(set(world.codes())) == len(world.codes()) == 4


def test_a_lost_ledger_adopts_tasks_that_no_sync_has_seen(world: ActWorld) -> None:
    """The private file is as old as the last sync: only the read before the first request shows the tasks."""
    world.build(leaks(3))
    digest = plan_acts(world.settings, None).digest
    lost = world.act(ledger=world.settings.act.ledger.with_name("lost.sqlite"))
    plan_acts(lost, None)
    apply_acts(lost, digest)
    forget_tasks(world)

    result = apply_acts(world.settings, digest)

    assert (result.sent, result.adopted) == (0, 3)
    assert len(world.codes()) == 3


def forget_tasks(world: ActWorld) -> None:
    """Put the private file back to before the tasks."""
    with duckdb.connect(str(world.settings.warehouse.path)) as connection:
        connection.execute("delete from raw.staff_tasks where contains(description, '[vetl ')")


def test_a_merged_wish_has_the_task_of_its_parts(world: ActWorld) -> None:
    world.build([Leak(7)])
    world.plan_and_apply()
    world.build([Leak(3, contacts=(3, 7))])

    plan = plan_acts(world.settings, None)

    assert [held.reason for held in plan.held_back] == ["has_task"]
    assert plan.acts == ()


def test_a_booked_wish_has_its_untouched_task_canceled(world: ActWorld) -> None:
    world.build(leaks(2))
    world.plan_and_apply()
    world.build([Leak(0, booked=True), Leak(1)])

    result = world.plan_and_apply()

    assert (result.sent, result.canceled, result.exit_code) == (0, 1, 0)
    assert sorted(task["status"] for task in world.tasks()) == ["canceled", "pending"]
    assert world.plan_and_apply().canceled == 0


def test_a_task_that_a_person_works_with_is_left_alone(world: ActWorld) -> None:
    world.build(leaks(1))
    world.plan_and_apply()
    (task,) = world.tasks()
    world.platform.update(PRACTICE, "staff_tasks", task["id"], {"title": "Ann calls on Monday"})
    world.build([Leak(0, booked=True)])

    assert world.plan_and_apply().canceled == 0
    assert world.tasks()[0]["status"] == "pending"
    assert "a person" in act_status(world.settings).entries[0].note


def test_caps_hold_over_several_plans_of_a_day(world: ActWorld) -> None:
    world.build(leaks(5))
    capped = world.act(per_practice_per_day=2)

    first, second = world.plan_and_apply(capped), world.plan_and_apply(capped)
    world.platform.advance(timedelta(days=1))
    world.sync()
    world.build(leaks(5))
    third = world.plan_and_apply(capped)

    assert (first.sent, second.sent, third.sent) == (2, 0, 2)


def test_nothing_leaves_in_quiet_hours(world: ActWorld) -> None:
    world.build(leaks(2))

    result = world.plan_and_apply(world.act(quiet_hours=(0, 24)))

    assert (result.sent, [held.reason for held in result.held_back]) == (0, ["quiet_hours", "quiet_hours"])
    assert posts(world) == 0


def test_the_kill_switch_is_a_setting_and_a_file(world: ActWorld) -> None:
    world.build(leaks(1))
    digest = plan_acts(world.settings, None).digest
    with pytest.raises(ConfigurationError, match=r"stopped by act\.stop; nothing is sent"):
        apply_acts(world.act(stop=True), digest)
    world.settings.act.stop_file.touch()
    with pytest.raises(ConfigurationError, match=r"act\.stop; nothing is sent"):
        apply_acts(world.settings, digest)

    assert posts(world) == 0


class Stopper(Faults):
    """Makes the file that stops acting, as a person does, while the first task is being made."""

    def __init__(self, world: ActWorld) -> None:
        super().__init__()
        self._file = world.settings.act.stop_file

    def strike(self, path: str, event: str, /) -> Fault | None:
        """Return no fault."""
        del event
        if path.startswith("POST ") and path.endswith("/staff_tasks"):
            self._file.touch()
        return None


def test_the_kill_switch_stops_an_applier_at_work(world: ActWorld) -> None:
    world.build(leaks(3))
    digest = plan_acts(world.settings, None).digest
    world.platform.platform.faults = Stopper(world)

    result = apply_acts(world.settings, digest)

    assert (result.sent, len(result.held_back)) == (1, 2)
    assert {held.reason for held in result.held_back} == {"stopped"}


def test_acting_is_off_by_default(world: ActWorld) -> None:
    world.build(leaks(1))
    with pytest.raises(ConfigurationError, match=r"act\.enabled is false: nothing is sent"):
        apply_acts(world.act(enabled=False), "0" * 16)


def test_a_plan_that_no_longer_fits_is_refused(world: ActWorld) -> None:
    world.build(leaks(2))
    digest = plan_acts(world.settings, None).digest
    world.build(leaks(3))

    with pytest.raises(WrongUse, match="no longer fits the data"):
        apply_acts(world.settings, digest)
    assert posts(world) == 0


def test_a_plan_of_another_ledger_is_refused(world: ActWorld) -> None:
    with pytest.raises(WrongUse, match="no such plan was made with this ledger"):
        apply_acts(world.settings, "feedfacefeedface")


def test_a_practice_that_refuses_writing_is_one_line(world: ActWorld) -> None:
    world.build(leaks(3))
    digest = plan_acts(world.settings, None).digest
    world.platform.faults.set([Fault("status", status=403, path=TASKS, in_a_row=None)])

    result = apply_acts(world.settings, digest)

    assert result.exit_code == 1
    assert len(result.failures) == 1
    assert "403" in result.failures[0]
    assert world.codes() == []
    world.platform.faults.set([])
    assert apply_acts(world.settings, digest).sent == 3


def test_a_refused_task_is_not_sent_again_by_itself(world: ActWorld) -> None:
    world.build([Leak(0, client_id="no-such-client")])

    first = world.plan_and_apply()

    assert (first.sent, first.exit_code) == (0, 1)
    assert [held.reason for held in plan_acts(world.settings, None).held_back] == ["refused"]


def test_a_wish_that_nobody_can_reach_is_held_back(world: ActWorld) -> None:
    world.build([Leak(0, phone_number=None), Leak(1, phone_number="ask at the desk"), Leak(2)])

    plan = plan_acts(world.settings, None)

    assert [held.reason for held in plan.held_back] == ["unreachable", "unreachable"]
    assert len(plan.acts) == 1


def test_an_uncertified_list_holds_a_practice_back(world: ActWorld) -> None:
    world.platform.set(staff_tasks={"told_total": 10_000})
    world.read(reconcile="full")
    world.build(leaks(2))

    assert {held.reason for held in plan_acts(world.settings, None).held_back} == {"uncertified"}


@pytest.mark.parametrize("away", [timedelta(hours=27), timedelta(days=-1)], ids=["late", "clock put back"])
def test_old_lists_and_a_clock_that_was_put_back_hold_a_practice_back(world: ActWorld, away: timedelta) -> None:
    world.build(leaks(2))
    plan = plan_acts(world.settings, None, now=lambda: utc_now() + away)

    assert {held.reason for held in plan.held_back} == {"too_old"}


def test_marts_that_are_older_than_the_data_hold_a_practice_back(world: ActWorld) -> None:
    world.build(leaks(2))
    world.platform.advance(timedelta(minutes=5))
    world.sync()

    assert {held.reason for held in plan_acts(world.settings, None).held_back} == {"not_built"}


def test_without_marts_there_is_one_line(world: ActWorld) -> None:
    with pytest.raises(WarehouseError, match="run `vetl run` first"):
        plan_acts(world.settings, None)


def test_a_second_applier_leaves_with_one_line(world: ActWorld) -> None:
    world.build(leaks(1))
    digest = plan_acts(world.settings, None).digest
    held, done = Event(), Event()

    def hold() -> None:
        with writing(world.settings.warehouse.path, lock_wait_seconds=0):
            held.set()
            done.wait(30)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        assert held.wait(30)
        with pytest.raises(WarehouseBusy, match="is still writing to it"):
            apply_acts(world.settings, digest)
        done.set()

    assert posts(world) == 0
    assert apply_acts(world.settings, digest).sent == 1


def test_a_ledger_that_is_no_database_is_one_line(world: ActWorld) -> None:
    world.build(leaks(1))
    world.settings.act.ledger.write_bytes(os.urandom(8192))
    with pytest.raises(LedgerError, match=r"acts\.sqlite: file is not a database"):
        plan_acts(world.settings, None)


def test_nothing_is_sent_if_the_disk_is_full(world: ActWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.build(leaks(2))
    digest = plan_acts(world.settings, None).digest

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(LedgerError, match="No space left on device"):
        apply_acts(world.settings, digest)

    assert posts(world) == 0
