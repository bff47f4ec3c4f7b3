"""dbt as vetl runs it: in a process of its own, on one warehouse file, writing nothing into the project."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.warm_dbt import dbt

from pipelines.bundled import dbt_project


@dataclass(frozen=True, slots=True)
class Build:
    """A finished `dbt build`."""

    exit_code: int
    output: str
    warehouse: Path
    target: Path

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.target / "manifest.json").read_text())

    def results(self, *statuses: str) -> list[str]:
        """The unique ids of the nodes that ended so."""
        content = json.loads((self.target / "run_results.json").read_text())
        return [node["unique_id"] for node in content["results"] if node["status"] in statuses]


def build(warehouse: Path, scratch: Path, *options: str, project: Path | None = None) -> Build:
    """Run `dbt build` and wait for it; `scratch` takes what dbt writes."""
    target = scratch / "target"
    done = dbt(
        *("--no-version-check", "--no-use-colors", "--log-level-file", "none", "build", *options),
        *places(project or dbt_project(), scratch),
        folder=scratch,
        environment={**os.environ, "VETL_WAREHOUSE__PATH": str(warehouse)},
    )
    return Build(done.exit_code, done.output, warehouse, target)


def places(project: Path, scratch: Path) -> list[str]:
    """Options that name the project, and where dbt writes."""
    return [
        *("--project-dir", str(project), "--profiles-dir", str(project)),
        *("--target-path", str(scratch / "target"), "--log-path", str(scratch / "logs")),
    ]
