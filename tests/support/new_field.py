"""A field and a mart that vetl does not ship: a contributor's edits, and a platform that has the field."""

import json
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from sandbox import Handle
from sandbox.contract import ROOT as INTERFACE

ROOM = "Room 3"
FIELD = {
    "pipelines/partner/models.py": (
        "    reference_time_at: Instant | None = None\n",
        "    room: Text | None = None\n",
    ),
    "dbt/models/staging/partner/stg_partner__staff_tasks.sql": (
        "        nullif(source.title, '') as title,\n",
        "        nullif(source.room, '') as room,\n",
    ),
    "dbt/models/staging/partner/stg_partner__staff_tasks.yml": (
        "      - {name: title, description: The task in a few words.}\n",
        "      - {name: room, description: The room of the task.}\n",
    ),
    "dbt/models/intermediate/tasks/int_staff_tasks.sql": ("    title,\n", "    room,\n"),
    "dbt/models/marts/tasks/staff_tasks.yml": (
        "    columns:\n",
        "      - {name: room, description: The room of the task., data_type: string}\n",
    ),
}
"""By file, a passage and the lines that follow it then."""

MART = """
select
    practice_id,
    day,
    room,
    count(*) as tasks
from {{ ref('staff_tasks') }}
group by practice_id, day, room
"""
MART_YML = """
models:
  - name: tasks_by_room
    description: One row per practice, day of creation and room.
    config: {meta: {owner: analytics, grain: "practice_id, day, room"}}
    data_tests:
      - unique_combination:
          arguments: {columns: [practice_id, day, room]}
      - ties_out:
          arguments: {to: ref('staff_tasks'), total: sum(tasks)}
    columns:
      - {name: practice_id, description: "{{ doc('practice_id') }}", data_type: string}
      - {name: day, description: "{{ doc('day') }}", data_type: date}
      - {name: room, description: The room of the task., data_type: string}
      - {name: tasks, description: Tasks created., data_type: bigint}
"""
METRIC_YML = """
semantic_models:
  - name: tasks_by_room
    model: ref('tasks_by_room')
    description: Staff tasks by room.
    config: {meta: {owner: analytics, lists: [staff_tasks]}}
    defaults: {agg_time_dimension: local_day}
    entities:
      - {name: room_day, type: primary, expr: "practice_id || ':' || day || ':' || room"}
      - {name: practice, type: foreign, expr: practice_id}
      - {name: practice_day, type: foreign, expr: "practice_id || ':' || day"}
    dimensions:
      - {name: local_day, type: time, expr: day, type_params: {time_granularity: day}}
      - {name: room, type: categorical}
    measures:
      - name: tasks_of_rooms
        label: Tasks of rooms
        description: Tasks created.
        agg: sum
        expr: tasks
        create_metric: true
"""


def add_field_and_mart(checkout: Path) -> None:
    """Change a copy of vetl by what CONTRIBUTING.md asks for, for a field and for a mart with a metric."""
    for name, (passage, added) in FIELD.items():
        path = checkout / name
        text = path.read_text("utf-8")
        assert passage in text, f"{name} has no {passage!r}"
        path.write_text(text.replace(passage, passage + added, 1), "utf-8")
    models = checkout / "dbt/models"
    (models / "marts/tasks/tasks_by_room.sql").write_text(MART, "utf-8")
    (models / "marts/tasks/tasks_by_room.yml").write_text(MART_YML, "utf-8")
    (models / "metrics/rooms.yml").write_text(METRIC_YML, "utf-8")


def serve_room(platform: Handle) -> None:
    """Let every staff task of the platform's list have a room."""
    routes = platform.app.router.routes
    partner = next(route for route in routes if isinstance(route, Mount) and route.path == INTERFACE)
    served = next(
        route
        for route in partner.routes
        if isinstance(route, Route) and route.path == "/staff_tasks" and "GET" in (route.methods or ())
    )

    async def answer(request: Request) -> Response:
        response: Response = await served.endpoint(request)
        body = json.loads(bytes(response.body))
        for task in body["data"]["content"]:
            task["room"] = ROOM
        return Response(json.dumps(body), response.status_code, media_type="application/json")

    routes.insert(0, Route(f"{INTERFACE}/staff_tasks", answer))
