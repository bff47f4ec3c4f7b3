"""Writing staff tasks (contract: Staff tasks; States and transitions, Staff task)."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.platform import Platform
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.server.auth import json_object, platform_of, practice_of
from vetl_sandbox.server.body import Body
from vetl_sandbox.server.envelopes import Refusal, success
from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.practices import Practice

_FINAL: Final = ("completed", "canceled")


async def create_task(request: Request) -> Response:
    """Create a task, pending."""
    platform, practice = platform_of(request), practice_of(request)
    body = Body(await json_object(request))
    with platform.lock:
        fields = _fields(body, platform, practice, title_required=True)
        body.finish()
        task = {"task_type": "task", "status": "pending", "cancellation_allowed": True} | fields
        table = platform.table(practice.id, "staff_tasks")
        made = table.rendered(platform.desk.staff.create(practice, task), platform.now(), platform.switches)
    return success(made, status=201)


async def update_task(request: Request) -> Response:
    """Change the fields that are given, and no other field."""
    platform, practice = platform_of(request), practice_of(request)
    body = Body(await json_object(request))
    with platform.lock:
        task = _task(request, platform, practice)
        changes = _fields(body, platform, practice)
        status = body.choice("status", v.TASK_STATUSES.values)
        body.finish()
        return success(_changed(platform, practice, task, changes | _moved(platform, task, status)))


async def delete_task(request: Request) -> Response:
    """Delete softly: the task is canceled, has a time, and stays in the list."""
    platform, practice = platform_of(request), practice_of(request)
    with platform.lock:
        task = _task(request, platform, practice)
        _changed(platform, practice, task, _moved(platform, task, "canceled"))
    return success({})


def _fields(body: Body, platform: Platform, practice: Practice, *, title_required: bool = False) -> dict[str, Any]:
    directory = platform.directory(practice.id)
    fields: dict[str, Any] = {"title": body.text("title", required=title_required)}
    fields["description"] = body.text("description")
    fields["task_type"] = body.choice("task_type", v.TASK_TYPES.values)
    fields["client_id"], fields["patient_id"] = body.text("client_id"), body.text("patient_id")
    fields["reference_time_at"] = body.instant("reference_time_at")
    if fields["client_id"] is not None and directory.client(fields["client_id"]) is None:
        body.fault("client_id", "No such client")
    if fields["patient_id"] is not None and directory.patient(fields["patient_id"]) is None:
        body.fault("patient_id", "No such patient")
    return {name: value for name, value in fields.items() if value is not None}


def _task(request: Request, platform: Platform, practice: Practice) -> Record:
    table = platform.table(practice.id, "staff_tasks")
    task = table.get(request.path_params["id"], platform.now(), platform.switches)
    if task is None:
        raise Refusal(404, "Not found")
    return task


def _moved(platform: Platform, task: Record, status: str | None) -> dict[str, Any]:
    """Return the fields that follow from a new status: a final status has a time, a pending one has none."""
    if status is None or status == task["status"]:
        return {}
    return {"status": status, "finalized_at": platform.now() if status in _FINAL else None}


def _changed(platform: Platform, practice: Practice, task: Record, changes: dict[str, Any]) -> Record:
    table, now = platform.table(practice.id, "staff_tasks"), platform.now()
    table.update(task["id"], changes | {"updated_at": now}, now, platform.switches)
    return table.rendered(task["id"], now, platform.switches)
