"""Plans are applied against a real platform: each one becomes one task, whatever happens on the way."""

import stat
from datetime import timedelta
from typing import Any

import duckdb
import pytest
from support.act_world import PRACTICE, ActWorld, AtTasks, Unbooked, unbooked
from support.warehouse_with_rows import ask
from vetl.addons.act.act_files import mirror_ledger
from vetl.addons.act.job import apply_acts, plan_acts
from vetl.addons.act.ledger import act_status
from vetl.addons.act.settings import ActSettings, TemplateSettings
from vetl.forgetting.job import forget_person
from vetl.publishing.statements import query
from vetl_sandbox import Fault

TASKS = "POST */staff_tasks"
REFUSALS = (400, 404, 409, 422)
"""Statuses of answers that refuse one task. A platform may have made it nevertheless."""
LATER = timedelta(minutes=16)


def test_each_request_becomes_one_task(world: ActWorld) -> None:
    world.build(unbooked(5))
    plan = plan_acts(world.settings, None)

    result = apply_acts(world.settings, plan.digest)

    assert (result.sent, result.adopted, result.unknown, result.exit_code) == (5, 0, 0, 0)
    assert sorted(world.codes()) == sorted(act.code for act in plan.acts)
    assert stat.S_IMODE(ActSettings.of(world.settings).ledger.stat().st_mode) == 0o600
    assert {task["title"] for task in world.tasks()} == {"Call back: scheduling"}
    assert (apply_acts(world.settings, plan.digest).sent, world.plan_and_apply().sent) == (0, 0)
    assert len(world.codes()) == 5


@pytest.mark.parametrize(
    "fault",
    [
        Fault("closed", path=TASKS, in_a_row=None),
        Fault("failed_late", path=TASKS, in_a_row=None, status=502),
        Fault("id_missing", path=TASKS, in_a_row=None),
        *(Fault("failed_late", path=TASKS, in_a_row=None, status=status) for status in REFUSALS),
    ],
    ids=lambda fault: f"{fault.kind} {fault.status}",
)
def test_a_task_whose_answer_is_lost_is_adopted_and_not_made_again(world: ActWorld, fault: Fault) -> None:
    world.build(unbooked(4))
    world.platform.faults.set([fault])

    result = world.plan_and_apply()

    assert (result.sent, result.adopted, result.unknown, result.exit_code) == (0, 4, 0, 0)
    assert {entry.state for entry in act_status(world.settings).entries} == {"made"}
    assert len(world.codes()) == len(set(world.codes())) == 4
    assert world.posts() == 4


@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_write_is_sent_once_whatever_refuses_the_practice_after_it(world: ActWorld, status: Any) -> None:
    """The client once repeated a POST after these, although the task was made: each stood there twice."""
    digest = world.plan(unbooked(3))
    world.platform.faults.set([Fault("failed_late", path=TASKS, most=1, in_a_row=None, status=status)])

    first = apply_acts(world.settings, digest)
    again = apply_acts(world.settings, digest)

    assert (first.sent, first.adopted, first.unknown, len(first.failures)) == (0, 1, 0, 1)
    assert (again.sent, again.exit_code) == (2, 0)
    assert len(world.codes()) == len(set(world.codes())) == 3


def test_tasks_that_a_proxy_makes_twice_are_seen_after_sending(world: ActWorld) -> None:
    digest = world.plan(unbooked(2))
    world.platform.faults.set([Fault("twice", path=TASKS, most=1, in_a_row=None)])

    first = apply_acts(world.settings, digest)
    world.platform.faults.set([])
    (double,) = {code for code in world.codes() if world.codes().count(code) > 1}

    assert (first.sent, first.exit_code) == (2, 3)
    assert first.doubts == [f"{PRACTICE}: 2 tasks have the code {double}; a person has to cancel all but one"]
    one = next(task["id"] for task in world.tasks() if double in task["description"])
    world.platform.update(PRACTICE, "staff_tasks", one, {"status": "canceled"})
    assert apply_acts(world.settings, world.plan(unbooked(3))).exit_code == 0


def test_a_request_without_an_answer_is_not_sent_again_before_the_time_to_settle_is_over(world: ActWorld) -> None:
    digest = world.plan(unbooked(2))
    world.platform.faults.set([Fault("status", path=TASKS, most=2, in_a_row=None)])

    first = apply_acts(world.settings, digest)
    at_once = apply_acts(world.settings, digest)
    held = plan_acts(world.settings, None).held_back
    world.platform.advance(LATER)
    later = apply_acts(world.settings, digest)

    assert (first.unknown, first.exit_code, at_once.unknown, at_once.exit_code) == (2, 3, 2, 3)
    assert [item.reason for item in held] == ["unknown", "unknown"]
    assert (later.sent, later.unknown, later.exit_code) == (2, 0, 0)
    assert world.posts() == 4
    assert len(set(world.codes())) == len(world.codes()) == 2


def test_nothing_is_sent_while_totals_lie(world: ActWorld) -> None:
    digest = world.plan(unbooked(2))
    world.platform.faults.set([Fault("status", path=TASKS, most=2, in_a_row=None)])
    apply_acts(world.settings, digest)
    world.platform.advance(LATER)
    world.platform.set(staff_tasks={"told_total": 10_000})

    result = apply_acts(world.settings, digest)

    assert (result.sent, result.unknown, result.exit_code) == (0, 2, 3)
    assert any("not certified" in doubt for doubt in result.doubts)
    assert world.posts() == 2


def test_a_list_that_shows_pending_tasks_only_proves_no_absence(world: ActWorld) -> None:
    """The status filter is ignored and every row is pending, so tasks in other statuses may be hidden."""
    for task in world.platform.truth(PRACTICE, "staff_tasks"):
        world.platform.update(PRACTICE, "staff_tasks", task["id"], {"status": "pending", "finalized_at": None})
    world.platform.set(staff_tasks={"ignored": ["status"]})
    world.sync()
    world.build(unbooked(1))

    result = world.plan_and_apply()

    assert (result.sent, result.exit_code) == (0, 3)
    assert "status is not known" in result.doubts[0]


def test_a_person_who_rewrites_a_task_at_once_owns_it(world: ActWorld) -> None:
    """The answer comes, but the code is gone from the task: the id is known."""
    world.build(unbooked(1))
    world.platform.faults.set([Fault("edited", path=TASKS)])
    world.plan_and_apply()
    world.sync()
    world.build([Unbooked(0, booked=True)])

    result = world.plan_and_apply()

    assert result.canceled == 0
    assert act_status(world.settings).entries[0].state == "left"


def change_tasks(world: ActWorld, fields: dict[str, str | None]) -> None:
    """Rewrite vetl's tasks, as a person does."""
    for task in world.tasks():
        world.platform.update(PRACTICE, "staff_tasks", task["id"], fields)


def test_a_task_that_lost_its_code_is_found_by_its_reference_time(world: ActWorld) -> None:
    """Each answer about a created task is lost, and then a person rewrites the task before it is read."""
    world.build(unbooked(2))
    is_due: list[bool] = []

    def meddle(method: str) -> Fault | None:
        if method == "POST":
            is_due.append(True)
            return Fault("failed_late")
        if is_due:
            change_tasks(world, {"description": "Ann calls them"})
        is_due.clear()
        return None

    world.platform.platform.faults = AtTasks(meddle)

    result = world.plan_and_apply()

    assert (result.sent, result.adopted, result.unknown) == (0, 2, 0)
    assert [entry.found_by for entry in act_status(world.settings).entries] == ["reference", "reference"]
    assert world.posts() == 2


def test_nothing_is_sent_again_if_the_platform_shows_tasks_without_their_marks(world: ActWorld) -> None:
    world.build(unbooked(1))
    assert world.plan_and_apply().sent == 1

    def cut(method: str) -> Fault | None:
        if method == "POST":
            return Fault("failed_late")
        change_tasks(world, {"description": "", "reference_time_at": None})
        return None

    world.platform.platform.faults = AtTasks(cut)
    digest = world.plan(unbooked(2)[1:])

    first = apply_acts(world.settings, digest)
    world.platform.advance(LATER)
    later = apply_acts(world.settings, digest)

    assert (first.sent, first.unknown, first.exit_code) == (0, 1, 3)
    assert (later.sent, later.unknown, later.exit_code) == (0, 1, 3)
    assert world.posts() == 2


def test_a_lost_ledger_makes_no_task_twice(world: ActWorld) -> None:
    world.build(unbooked(3))
    world.plan_and_apply()
    lose_the_ledger(world)

    first = world.plan_and_apply()
    world.platform.advance(LATER)
    world.sync()
    world.build(unbooked(4))
    second = world.plan_and_apply()
    world.platform.advance(LATER)
    third = world.plan_and_apply()

    assert [result.sent for result in (first, second, third)] == [0, 0, 1]
    assert len(set(world.codes())) == len(world.codes()) == 4


def test_a_lost_ledger_adopts_tasks_that_no_sync_has_seen(world: ActWorld) -> None:
    """The private file is as old as the last sync: only the read before the first request shows the tasks."""
    digest = world.plan(unbooked(3))
    lost = world.act(ledger=ActSettings.of(world.settings).ledger.with_name("lost.sqlite"))
    plan_acts(lost, None)
    apply_acts(lost, digest)
    with duckdb.connect(world.settings.warehouse.path) as connection:
        connection.execute("delete from raw.staff_tasks where contains(description, '[vetl ')")

    result = apply_acts(world.settings, digest)

    assert (result.sent, result.adopted) == (0, 3)
    assert len(world.codes()) == 3


def lose_the_ledger(world: ActWorld) -> None:
    for file in ActSettings.of(world.settings).ledger.parent.glob("acts.sqlite*"):
        file.unlink()


def test_after_a_lost_ledger_the_caps_of_a_day_count_the_tasks_that_the_platform_shows(world: ActWorld) -> None:
    capped = world.act(per_practice_per_day=2)
    world.build(unbooked(2))
    world.plan_and_apply(capped)
    lose_the_ledger(world)
    world.build(unbooked(5)[2:])

    world.plan_and_apply(capped)
    world.platform.advance(LATER)
    same_day = world.plan_and_apply(capped)

    assert (same_day.sent, world.posts()) == (0, 2)
    assert {held.reason for held in plan_acts(capped, None).held_back} == {"above_cap"}


def test_a_copied_act_stays_as_it_was_if_the_ledger_is_lost(world: ActWorld) -> None:
    """After that the ledger knows a task by its code alone."""
    world.build(unbooked(2))
    world.plan_and_apply()
    acts = "select episode_id, state, task_id, planned_at, approved_by from control.acts order by all"
    with duckdb.connect(world.settings.warehouse.path) as connection:
        connection.execute("delete from control.acts")  # as if the file was busy when the acts were applied
    mirror_ledger(world.settings)
    before = ask(world.settings.warehouse.path, acts)
    assert [row[:2] for row in before] == [("call:c-0", "made"), ("call:c-1", "made")]
    assert {row[2] for row in before} == {task["id"] for task in world.tasks()}
    lose_the_ledger(world)
    world.sync()
    world.build(unbooked(3)[2:])
    world.plan_and_apply()
    assert [entry.act.episode_id for entry in act_status(world.settings).entries].count("") == 2

    mirror_ledger(world.settings)

    assert ask(world.settings.warehouse.path, acts)[:2] == before
    assert ("acts",) in ask(world.settings.warehouse.path, "select table_name from control.changes")


def test_a_booked_request_has_its_untouched_task_canceled(world: ActWorld) -> None:
    world.build(unbooked(2))
    world.plan_and_apply()
    world.build([Unbooked(0, booked=True), Unbooked(1)])

    result = world.plan_and_apply()

    assert (result.sent, result.canceled, result.exit_code) == (0, 1, 0)
    assert sorted(task["status"] for task in world.tasks()) == ["canceled", "pending"]
    assert world.plan_and_apply().canceled == 0


def test_a_task_that_a_person_works_with_is_left_alone(world: ActWorld) -> None:
    world.build(unbooked(1))
    world.plan_and_apply()
    (task,) = world.tasks()
    world.platform.update(PRACTICE, "staff_tasks", task["id"], {"title": "Ann calls on Monday"})
    world.build([Unbooked(0, booked=True)])

    assert world.plan_and_apply().canceled == 0
    assert world.tasks()[0]["status"] == "pending"
    assert "a person" in act_status(world.settings).entries[0].note


def test_a_forgotten_client_is_erased_from_the_ledger_and_gets_no_second_task(world: ActWorld) -> None:
    sql = "select id, name from raw.clients where length(id) > 7 and strpos(name, ' ') > 0 order by id limit 1"
    [(client, name)] = query(world.settings.warehouse.path, sql).rows
    words = ActSettings.of(world.settings).templates.model_copy(
        update={"call_back": TemplateSettings(description="Call {client_name}.")}
    )
    settings = world.act(templates=words)
    world.build([Unbooked(0, client_id=client), Unbooked(1)])
    world.plan_and_apply(settings)
    files = list(ActSettings.of(settings).ledger.parent.glob("acts.sqlite*"))
    assert any(name.encode() in file.read_bytes() for file in files)

    left = forget_person(settings, PRACTICE, client, lambda: {"exit_code": 0}).left

    assert [file for file in left if "acts.sqlite" in file] == []
    held = b"".join(file.read_bytes() for file in ActSettings.of(settings).ledger.parent.glob("acts.sqlite*"))
    assert (name.encode() in held, client.encode() in held) == (False, False)
    world.build([Unbooked(0), Unbooked(1)])  # the marts went with the person
    assert [held.reason for held in plan_acts(settings, None).held_back] == ["has_task", "has_task"]
