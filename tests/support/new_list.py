"""A list that the contract does not have: a contributor's files for it, and a platform that serves it."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from support import warm_dbt

from pipelines.bundled import dbt_project
from sandbox import Handle
from sandbox.contract import ROOT as INTERFACE
from sandbox.server.auth import practice_of
from sandbox.server.envelopes import success

ROOT = Path(__file__).resolve().parents[2]
CREATED = "2025-05-01T12:00:00Z"

ENDPOINT = """
from pipelines.core.endpoint import Endpoint, FullScan
from pipelines.core.records import Instant, Record, Text

class Estimate(Record):
    id: Text
    status: Text | None = None
    created_at: Instant | None = None

ESTIMATES = Endpoint(
    name="estimates",
    path="location/{practice_id}/estimates",
    table="estimates",
    record=Estimate,
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
    endpoints, staging = folder / "pipelines/endpoints", folder / "dbt/models/staging/partner"
    (endpoints / "estimates.py").write_text(ENDPOINT, "utf-8")
    (staging / "stg_partner__estimates.sql").write_text(SQL, "utf-8")
    (staging / "stg_partner__estimates.yml").write_text(YML, "utf-8")
    registry = (endpoints / "__init__.py").read_text("utf-8")
    registry = registry.replace("    STAFF_TASKS,\n", "    STAFF_TASKS,\n    ESTIMATES,\n")
    imported = "from pipelines.endpoints.estimates import ESTIMATES\nfrom pipelines.endpoints.patients"
    registry = registry.replace("from pipelines.endpoints.patients", imported)
    (endpoints / "__init__.py").write_text(registry, "utf-8")
    return folder


DAGSTER = """
import json, shutil, sys
import dagster as dg
from pipelines.definitions import vetl_definitions
from pipelines.jobs import dbt_process
from pipelines.orchestration import dbt
dbt_process.COMMAND = (sys.argv[2],)
find = shutil.which
dbt.shutil.which = lambda name, **more: sys.argv[2] if name == "dbt" else find(name, **more)
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
"""The job of the schedules, without partitions, as a tick starts it; `dbt` is the forked one."""


def run_everything(checkout: Path, config: Path) -> dict[str, Any]:
    """Run that job in a process of its own, which imports the checkout; return its events."""
    dbt = checkout / "dbt-of-tests"
    dbt.write_text(f'#!/bin/sh\nexec {shlex.join(warm_dbt.command())} "$@"\n')
    dbt.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", DAGSTER, str(config), str(dbt)],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "log": done.stderr}
