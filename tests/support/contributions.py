"""A list, a field and a mart that vetl does not ship: a contributor's files, and a platform that serves them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from support import warm_dbt
from vetl.bundled import dbt_project
from vetl_sandbox import Handle
from vetl_sandbox.contract import ROOT as INTERFACE
from vetl_sandbox.server.auth import practice_of
from vetl_sandbox.server.envelopes import success

ROOT = Path(__file__).resolve().parents[2]
CREATED = "2025-05-01T12:00:00Z"

RECORD = """

class Estimate(Record):
    id: Text
    status: Text | None = None
    created_at: Instant | None = None
"""

ENDPOINT = """
ESTIMATES = Endpoint(
    name="estimates",
    path="location/{practice_id}/estimates",
    table="estimates",
    record=models.Estimate,
    strategy=FullScan(statuses=("draft", "sent"), open_statuses=("draft",)),
)

"""

SQL = """
select practice_id, id as estimate_id, status, created_at
from {{ source('partner', 'estimates') }}
where _deleted_at is null
"""

YML = """
sources:
  - name: partner
    schema: raw
    tables:
      - name: estimates
        description: The mirror of the platform's estimates.
models:
  - name: stg_partner__estimates
    description: One row per estimate that the source still has.
"""


def serve_estimates(platform: Handle, rows: int) -> None:
    """Give every practice so many estimates, in pages like those of the contract's lists."""
    estimates = [
        {"id": f"e{number}", "status": ("draft", "sent")[number % 2], "created_at": CREATED}
        for number in range(rows)
    ]

    async def answer(request: Request) -> Response:
        assert request.path_params["practice_id"] == practice_of(request).id
        asked = request.query_params
        page, size = int(asked.get("page", 0)), min(int(asked.get("per_page", 100)), 100)
        chosen = [row for row in estimates if asked.get("status", row["status"]) == row["status"]]
        content: list[Any] = chosen[page * size : (page + 1) * size]
        return success({"page": page, "per_page": size, "total_count": len(chosen), "content": content})

    platform.app.router.routes.insert(0, Route(f"{INTERFACE}/location/{{practice_id}}/estimates", answer))


def checkout_with_estimates(folder: Path) -> Path:
    """Return a copy of vetl with only the changes that CONTRIBUTING.md asks for."""
    skip = shutil.ignore_patterns("target", "logs", "__pycache__")
    shutil.copytree(ROOT / "pipelines", folder / "pipelines", ignore=skip)
    shutil.copytree(dbt_project(), folder / "dbt", ignore=skip)
    for name in ("sandbox", "warehouse", "dashboards"):
        (folder / name).symlink_to(ROOT / name)
    vetl, staging = folder / "pipelines/vetl", folder / "dbt/models/staging/partner"
    with (vetl / "partner/models.py").open("a", encoding="utf-8") as models:
        models.write(RECORD)
    endpoints = (vetl / "endpoints.py").read_text("utf-8")
    endpoints = endpoints.replace("\nREGISTRY:", f"{ENDPOINT}REGISTRY:")
    endpoints = endpoints.replace("    STAFF_TASKS,\n", "    STAFF_TASKS,\n    ESTIMATES,\n")
    (vetl / "endpoints.py").write_text(endpoints, "utf-8")
    (staging / "stg_partner__estimates.sql").write_text(SQL, "utf-8")
    (staging / "stg_partner__estimates.yml").write_text(YML, "utf-8")
    return folder


DAGSTER = """
import json, sys
import dagster as dg
from vetl.definitions import vetl_definitions
from vetl.jobs import dbt_process
dbt_process.COMMAND = tuple(sys.argv[2:])
job = vetl_definitions(sys.argv[1]).resolve_job_def("everything")
with dg.DagsterInstance.ephemeral() as instance:
    result = job.execute_in_process(instance=instance, raise_on_error=False)
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION
    assets = [event.asset_materialization for event in instance.all_logs(result.run_id, of_type=kind)]
    told = {
        "success": result.success,
        "partitions": instance.get_dynamic_partitions("practice"),
        "assets": [
            ["/".join(item.asset_key.path), item.partition, {key: one.value for key, one in item.metadata.items()}]
            for item in assets
        ],
        "checks": [
            ["/".join(item.asset_key.path), item.check_name, item.passed]
            for item in result.get_asset_check_evaluations()
        ],
    }
print(json.dumps(told, default=str))
"""
"""The job of the schedules, without partitions, as a tick starts it; dbt is the forked one."""


def run_everything(checkout: Path, config: Path) -> dict[str, Any]:
    """Run that job in a process of its own, which imports the checkout; return its events."""
    done = subprocess.run(
        [sys.executable, "-c", DAGSTER, str(config), *warm_dbt.command()],
        env={**os.environ, "PYTHONPATH": str(checkout / "pipelines")},
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "log": done.stderr}


ROOM = "Room 3"
FIELD = {
    "pipelines/vetl/partner/models.py": (
        "    reference_time_at: Instant | None = None\n",
        "    room: Text | None = None\n",
    ),
    "dbt/models/staging/partner/stg_partner__staff_tasks.sql": (
        "        nullif(title, '') as title,\n",
        "        nullif(room, '') as room,\n",
    ),
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
      - holds:
          name: tasks_by_room_holds
          arguments: {key: [practice_id, day, room], ties_out: {to: ref('staff_tasks'), total: sum(tasks)}}
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
