"""dbt as vetl runs it: in a process of its own, on one warehouse file, writing nothing into the project."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    folder = str(project or dbt_project())
    target = scratch / "target"
    command = [
        *(sys.executable, "-c", "from dbt.cli.main import cli; cli()"),
        *("--no-version-check", "--no-use-colors", "--log-level-file", "none", "build"),
        *options,
    ]
    folders = ["--project-dir", folder, "--profiles-dir", folder, "--target-path", str(target)]
    done = subprocess.run(
        [*command, *folders, "--log-path", str(scratch / "logs")],
        env={**os.environ, "VETL_WAREHOUSE__PATH": str(warehouse)},
        cwd=scratch,
        capture_output=True,
        text=True,
        check=False,
    )
    return Build(done.returncode, done.stdout + done.stderr, warehouse, target)
