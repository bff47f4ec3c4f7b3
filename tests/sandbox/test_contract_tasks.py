"""Contract: Staff task; its states; list, create, update and delete."""

from datetime import datetime
from typing import Any

from support.contract_breaks import accepts, answers, rows, shows
from support.partner_side import Partner, Row, at_fault, made
from support.rows_by_id import ISO, by_id
from support.rules import broken_as, broken_by, rule

RECORD, STATES, ENDPOINTS = "Resources / Staff task", "States / Staff task", "Endpoints / Staff tasks"


def new(partner: Partner, **fields: Any) -> Row:
    return made(partner.post("staff_tasks", {"title": "Call back", "description": "Soon", **fields}))


def put(partner: Partner, task: Row, **fields: Any) -> Row:
    partner.later(seconds=1)
    return made(partner.put(f"staff_tasks/{task['id']}", fields))


def listed(partner: Partner, task: Row) -> Row | None:
    return by_id(partner.everything("staff_tasks")).get(task["id"])


@rule(RECORD, says="types")
@broken_by(shows("staff_tasks", cancellation_allowed="yes"), shows("staff_tasks", created_at="today"))
def test_flags_are_booleans_and_times_date_times(partner: Partner) -> None:
    for task in partner.everything("staff_tasks"):
        assert isinstance(task["cancellation_allowed"], bool)
        for name in ("reference_time_at", "finalized_at", "created_at", "updated_at"):
            assert task[name] is None or ISO.fullmatch(task[name])


@rule(RECORD, says="finalized_at")
@broken_by(shows("staff_tasks", finalized_at=None))
def test_finalized_at_is_set_exactly_while_a_task_is_final(partner: Partner) -> None:
    for task in partner.everything("staff_tasks"):
        assert (task["finalized_at"] is None) == (task["status"] == "pending")


@rule(ENDPOINTS, says="create: defaults")
@broken_by(shows("staff_tasks", status="completed"))
def test_a_new_task_is_a_pending_task(partner: Partner) -> None:
    task = new(partner)
    assert (task["task_type"], task["status"], task["finalized_at"]) == ("task", "pending", None)


@rule(ENDPOINTS, says="task_type", given={"task_type": "rx_refill"})
@rule(ENDPOINTS, says="text", given={"description": "d"})
@rule(ENDPOINTS, says="people", given={"client_id": "10000001", "patient_id": "10000001"})
@broken_as(lambda given: shows("staff_tasks", method="POST", **dict.fromkeys(given, "?")))
def test_a_task_is_as_it_was_asked_for_and_listed(partner: Partner, given: Row) -> None:
    task = new(partner, **given)
    assert task.items() >= given.items()
    assert listed(partner, task) == task


@rule(ENDPOINTS, says="reference_time_at")
@broken_by(shows("staff_tasks", reference_time_at="2026-02-01T10:00:00Z"))
def test_a_reference_time_is_an_instant(partner: Partner) -> None:
    task = new(partner, reference_time_at="2026-02-01T10:00:00+02:00")
    shown, meant = (datetime.fromisoformat(at) for at in (task["reference_time_at"], "2026-02-01T08:00:00Z"))
    assert shown == meant


@rule(ENDPOINTS, says="update: only provided fields change")
@broken_by(shows("staff_tasks/*", task_type="task"))
def test_only_provided_fields_change(partner: Partner) -> None:
    task = new(partner, task_type="rx_refill", client_id="10000001", reference_time_at="2026-02-01T10:00:00Z")
    changed = put(partner, task, title="Another")
    assert changed == task | {"title": "Another", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > task["updated_at"]


@rule(ENDPOINTS, says="status", changes={"status": "completed"})
@rule(ENDPOINTS, says="description", changes={"description": "x"})
@rule(ENDPOINTS, says="task_type", changes={"task_type": "rx_refill"})
@rule(ENDPOINTS, says="people", changes={"client_id": "10000001", "patient_id": "10000001"})
@broken_as(lambda changes: shows("staff_tasks/*", **dict.fromkeys(changes, "?")))
def test_each_field_can_be_updated(partner: Partner, changes: Row) -> None:
    task = new(partner)
    assert put(partner, task, **changes).items() >= changes.items()
    now = listed(partner, task)
    assert now is not None
    assert now.items() >= changes.items()


@rule(ENDPOINTS, says="update: status is one of three")
@broken_by(accepts())
def test_a_status_that_is_none_is_refused(partner: Partner) -> None:
    task = new(partner)
    assert at_fault(partner.put(f"staff_tasks/{task['id']}", {"status": "done"})) == ["status"]


@rule(STATES, says="to completed", status="completed")
@rule(STATES, says="to canceled", status="canceled")
@broken_by(shows("staff_tasks/*", finalized_at=None))
def test_a_final_status_sets_finalized_at(partner: Partner, status: str) -> None:
    task = new(partner)
    final = put(partner, task, status=status)
    assert (final["status"], final["finalized_at"]) == (status, final["updated_at"])
    assert listed(partner, task) == final


@rule(STATES, says="completed reopens", status="completed")
@rule(STATES, says="canceled reopens", status="canceled")
@broken_by(shows("staff_tasks/*", finalized_at="2026-01-15T17:30:00Z"))
def test_back_to_pending_clears_finalized_at(partner: Partner, status: str) -> None:
    task = new(partner)
    put(partner, task, status=status)
    again = put(partner, task, status="pending")
    assert (again["status"], again["finalized_at"]) == ("pending", None)


@rule(STATES, says="soft delete")
@broken_by(rows("staff_tasks", lambda tasks: [task for task in tasks if task["status"] != "canceled"]))
def test_a_deleted_task_is_canceled_and_kept(partner: Partner) -> None:
    task = new(partner)
    assert partner.delete(f"staff_tasks/{task['id']}").status_code == 200
    kept = listed(partner, task)
    assert kept is not None
    assert (kept["status"], kept["title"]) == ("canceled", task["title"])
    assert kept["finalized_at"]


@rule(ENDPOINTS, says="delete: data")
@broken_by(answers("staff_tasks/*", lambda _: {"id": "x"}, method="DELETE"))
def test_delete_answers_an_empty_object(partner: Partner) -> None:
    body = partner.delete(f"staff_tasks/{new(partner)['id']}").json()
    assert (body["success"], body["data"]) == (True, {})
