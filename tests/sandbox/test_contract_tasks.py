"""Contract: Staff task; its states; list, create, update and delete."""

from datetime import datetime
from typing import Any

from support.breaking import Break, edited
from support.partner_side import Partner, Row, at_fault, made
from support.rules import rule
from support.shapes import ISO, by_id, without

RECORD, STATES, ENDPOINTS = "Resources / Staff task", "States / Staff task", "Endpoints / Staff tasks"
FIELDS = {
    "id", "task_type", "status", "title", "description", "client_id", "patient_id", "cancellation_allowed",
    "override_completion_action_text", "reference_time_at", "finalized_at", "created_at", "updated_at",
}  # fmt: skip


def new(partner: Partner, **fields: Any) -> Row:
    return made(partner.post("staff_tasks", {"title": "Call back", "description": "Soon", **fields}))


def put(partner: Partner, task: Row, **fields: Any) -> Row:
    partner.later(seconds=1)
    return made(partner.put(f"staff_tasks/{task['id']}", fields))


def listed(partner: Partner, task: Row) -> Row | None:
    return by_id(partner.everything("staff_tasks")).get(task["id"])


@rule(RECORD, without("finalized_at"), without("override_completion_action_text"))
def test_a_task_has_its_fields(partner: Partner) -> None:
    assert set(partner.page("staff_tasks")["content"][0]) == FIELDS
    assert set(new(partner)) == FIELDS


@rule(
    RECORD,
    edited("resources.staff_tasks:render", '"task_type",', 'pl.lit("chore").alias("task_type"),'),
    says="task_type",
    name="task_type",
    values="task rx_refill",
)
@rule(
    RECORD,
    edited("resources.staff_tasks:render", '"status",', 'pl.lit("done").alias("status"),'),
    says="status",
    name="status",
    values="pending completed canceled",
)
def test_an_enum_of_tasks_has_the_contracts_values(partner: Partner, name: str, values: str) -> None:
    assert {task[name] for task in partner.everything("staff_tasks")} == set(values.split())


@rule(
    RECORD,
    edited(
        "resources.staff_tasks:render", '"cancellation_allowed",', 'pl.lit("yes").alias("cancellation_allowed"),'
    ),
    edited("resources.staff_tasks:render", '"reference_time_at",', 'pl.lit("soon").alias("reference_time_at"),'),
    edited("resources.staff_tasks:render", '"updated_at",', 'pl.lit("now").alias("updated_at"),'),
    says="types",
)
def test_flags_are_booleans_and_times_date_times(partner: Partner) -> None:
    for task in partner.everything("staff_tasks"):
        assert isinstance(task["cancellation_allowed"], bool)
        for name in ("reference_time_at", "finalized_at", "created_at", "updated_at"):
            assert task[name] is None or ISO.fullmatch(task[name])


@rule(
    RECORD,
    edited("resources.staff_tasks:render", '"finalized_at",', 'pl.col("updated_at").alias("finalized_at"),'),
    says="finalized_at",
)
def test_finalized_at_is_set_exactly_while_a_task_is_final(partner: Partner) -> None:
    for task in partner.everything("staff_tasks"):
        assert (task["finalized_at"] is None) == (task["status"] == "pending")


def passed_over(status: str) -> Break:
    known = f'if status in statuses and status != "{status}":'
    return edited("server.lists:_chosen", "if status in statuses:", known)


@rule(ENDPOINTS, passed_over("pending"), says="list: pending", status="pending")
@rule(ENDPOINTS, passed_over("completed"), says="list: completed", status="completed")
@rule(ENDPOINTS, passed_over("canceled"), says="list: canceled", status="canceled")
def test_the_status_filter_lets_through_its_status(partner: Partner, status: str) -> None:
    wanted = [task for task in partner.everything("staff_tasks") if task["status"] == status]
    assert by_id(partner.everything("staff_tasks", status=status)) == by_id(wanted)
    assert wanted


@rule(
    ENDPOINTS,
    edited("server.staff_tasks:create_task", '"task_type": "task"', '"task_type": "rx_refill"'),
    edited("server.staff_tasks:create_task", '"status": "pending"', '"status": "completed"'),
    says="create: defaults",
)
def test_a_new_task_is_a_pending_task(partner: Partner) -> None:
    task = new(partner)
    assert (task["task_type"], task["status"], task["finalized_at"]) == ("task", "pending", None)


GIVEN = "server.staff_tasks:_given"


@rule(
    ENDPOINTS,
    edited(GIVEN, "v.TASK_TYPES.values", '("task",)'),
    says="task_type",
    given={"task_type": "rx_refill"},
)
@rule(
    ENDPOINTS,
    edited(GIVEN, "for name in _TEXTS", 'for name in ("title",)'),
    says="text",
    given={"description": "d"},
)
@rule(
    ENDPOINTS,
    edited(GIVEN, 'body.text("client_id"), body.text("patient_id")', 'None, body.text("patient_id")'),
    edited(GIVEN, 'body.text("client_id"), body.text("patient_id")', 'body.text("client_id"), None'),
    says="people",
    given={"client_id": "10000001", "patient_id": "10000001"},
)
def test_a_task_is_as_it_was_asked_for_and_listed(partner: Partner, given: Row) -> None:
    task = new(partner, **given)
    assert task.items() >= given.items()
    assert listed(partner, task) == task


@rule(
    ENDPOINTS,
    edited(
        "server.body:Body.instant",
        "told.astimezone(UTC) if told.tzinfo else",
        "told.replace(tzinfo=UTC) if told.tzinfo else",
    ),
    says="reference_time_at",
)
def test_a_reference_time_is_an_instant(partner: Partner) -> None:
    task = new(partner, reference_time_at="2026-02-01T10:00:00+02:00")
    told, meant = (datetime.fromisoformat(at) for at in (task["reference_time_at"], "2026-02-01T08:00:00Z"))
    assert told == meant


@rule(
    ENDPOINTS,
    edited(GIVEN, 'body.choice("task_type", v.TASK_TYPES.values)', 'body.text("task_type")'),
    says="task_type is one of two",
    body={"task_type": "chore"},
    fields=["task_type"],
)
@rule(
    ENDPOINTS,
    edited(GIVEN, 'body.instant("reference_time_at")', 'body.text("reference_time_at")'),
    says="reference_time_at is a time",
    body={"reference_time_at": "soon"},
    fields=["reference_time_at"],
)
@rule(
    ENDPOINTS,
    edited("server.body:Body.text", "if not isinstance(value, str):", "if False:"),
    says="title is a string",
    body={"title": [7]},
    fields=["title"],
)
def test_a_task_that_cannot_be_is_refused(partner: Partner, body: Row, fields: list[str]) -> None:
    assert at_fault(partner.post("staff_tasks", {"title": "t", "description": "d", **body})) == fields


@rule(
    ENDPOINTS,
    edited(GIVEN, "for name, value in given.items() if value is not None", "for name, value in given.items()"),
    says="update: only provided fields change",
)
def test_only_provided_fields_change(partner: Partner) -> None:
    task = new(partner, task_type="rx_refill", client_id="10000001", reference_time_at="2026-02-01T10:00:00Z")
    changed = put(partner, task, title="Another")
    assert changed == task | {"title": "Another", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > task["updated_at"]


@rule(
    ENDPOINTS,
    edited("server.staff_tasks:update_task", "body.choice", "None and body.choice"),
    says="status",
    changes={"status": "completed"},
)
@rule(
    ENDPOINTS,
    edited(GIVEN, "body.text(name, required=name in required)", "None"),
    says="description",
    changes={"description": "x"},
)
@rule(
    ENDPOINTS,
    edited(GIVEN, 'body.choice("task_type"', 'None and body.choice("task_type"'),
    says="task_type",
    changes={"task_type": "rx_refill"},
)
@rule(
    ENDPOINTS,
    edited(GIVEN, 'body.text("client_id"), body.text("patient_id")', "None, None"),
    says="people",
    changes={"client_id": "10000001", "patient_id": "10000001"},
)
def test_each_field_can_be_updated(partner: Partner, changes: Row) -> None:
    task = new(partner)
    assert put(partner, task, **changes).items() >= changes.items()
    now = listed(partner, task)
    assert now is not None
    assert now.items() >= changes.items()


@rule(
    ENDPOINTS,
    edited(
        "server.staff_tasks:update_task", 'body.choice("status", v.TASK_STATUSES.values)', 'body.text("status")'
    ),
    says="update: status is one of three",
)
def test_a_status_that_is_none_is_refused(partner: Partner) -> None:
    task = new(partner)
    assert at_fault(partner.put(f"staff_tasks/{task['id']}", {"status": "done"})) == ["status"]


MOVED = "server.staff_tasks:_moved"


@rule(
    STATES,
    edited(MOVED, "if status in _FINAL else None", 'if status == "canceled" else None'),
    says="to completed",
    status="completed",
)
@rule(
    STATES,
    edited(MOVED, "if status in _FINAL else None", 'if status == "completed" else None'),
    says="to canceled",
    status="canceled",
)
def test_a_final_status_sets_finalized_at(partner: Partner, status: str) -> None:
    task = new(partner)
    final = put(partner, task, status=status)
    assert (final["status"], final["finalized_at"]) == (status, final["updated_at"])
    assert listed(partner, task) == final


@rule(
    STATES,
    edited(MOVED, "if status in _FINAL else None", 'if status in _FINAL else task["finalized_at"]'),
    says="completed reopens",
    status="completed",
)
@rule(
    STATES,
    edited(MOVED, "platform.now() if status in _FINAL else None", "platform.now()"),
    says="canceled reopens",
    status="canceled",
)
def test_back_to_pending_clears_finalized_at(partner: Partner, status: str) -> None:
    task = new(partner)
    put(partner, task, status=status)
    again = put(partner, task, status="pending")
    assert (again["status"], again["finalized_at"]) == ("pending", None)


ERASED = 'platform.table(practice.id, "staff_tasks").delete(task["id"], platform.now(), platform.switches)'


@rule(
    STATES,
    edited("server.staff_tasks:delete_task", '"canceled"', '"completed"'),
    edited(
        "server.staff_tasks:delete_task",
        '_changed(platform, practice, task, _moved(platform, task, "canceled"))',
        ERASED,
    ),
    edited("server.staff_tasks:delete_task", '_moved(platform, task, "canceled")', '{"status": "canceled"}'),
    says="soft delete",
)
def test_a_deleted_task_is_canceled_and_kept(partner: Partner) -> None:
    task = new(partner)
    assert partner.delete(f"staff_tasks/{task['id']}").status_code == 200
    kept = listed(partner, task)
    assert kept is not None
    assert (kept["status"], kept["title"]) == ("canceled", task["title"])
    assert kept["finalized_at"]


@rule(ENDPOINTS, edited("server.staff_tasks:delete_task", "success({})", "success(None)"), says="delete: data")
def test_delete_answers_an_empty_object(partner: Partner) -> None:
    body = partner.delete(f"staff_tasks/{new(partner)['id']}").json()
    assert (body["success"], body["data"]) == (True, {})
