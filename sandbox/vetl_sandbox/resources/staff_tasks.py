"""Staff tasks (contract: Staff task)."""

from typing import Final

import polars as pl

from vetl_sandbox.openapi.shapes import FLAG, choice, nullable
from vetl_sandbox.resources.resource import Resource, Scene, text_id, with_people
from vetl_sandbox.world import text, vocabulary as v
from vetl_sandbox.world.lives import INSTANT

FIELDS: Final = (
    "id", "task_type", "status", "title", "description", "client_id", "patient_id", "cancellation_allowed",
    "override_completion_action_text", "reference_time_at", "finalized_at", "created_at", "updated_at",
)  # fmt: skip


def render(rows: pl.DataFrame, scene: Scene) -> pl.DataFrame:
    """Return tasks with the fields of the contract."""
    joined = with_people(rows, scene.people)
    return joined.select(
        "task_type",
        "status",
        "cancellation_allowed",
        "reference_time_at",
        "finalized_at",
        "created_at",
        "updated_at",
        title=text.task_titles(joined["title"], joined["patient_name"]),
        description=pl.when(pl.col("client_name").is_not_null()).then(
            pl.format("{}\n{}", "client_name", pl.col("client_phone"))
        ),
        client_id=text_id("client_number"),
        patient_id=text_id("patient_number"),
        override_completion_action_text=pl.when("with_action_text").then(pl.lit("Mark as filled")),
    )


STAFF_TASKS: Final = Resource(
    name="staff_tasks",
    path="staff_tasks",
    record="StaffTask",
    section="Staff tasks",
    fields=FIELDS,
    prefix="task",
    render=render,
    filterable={"created_at": INSTANT, "updated_at": INSTANT, "status": v.TASK_STATUSES.dtype},
    statuses=v.TASK_STATUSES.values,
    has_get=False,
    schemas={
        "task_type": choice(v.TASK_TYPES.values),
        "status": choice(v.TASK_STATUSES.values),
        "cancellation_allowed": nullable(FLAG),
    },
)
