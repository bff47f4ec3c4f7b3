"""dbt as vetl runs it: in a process of its own, on one warehouse file, writing nothing into the project."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.warm_dbt import Done, dbt
from vetl.bundled import dbt_project
from vetl.jobs.build import dbt_variables
from vetl.jobs.dbt_process import as_options, environment
from vetl.settings.core_sections import DefinitionsSettings

BOOKING_STAGES = ("started", "client_details", "pet_details", "reason_selected", "slot_selected", "confirmed")
"""The stages of the sandbox in their order."""
VARIABLES = as_options(dbt_variables((), DefinitionsSettings(booking_stages=BOOKING_STAGES)))
"""The variables that vetl passes: a project is parsed once for the same variables (`support.warm_dbt_server`)."""


@dataclass(frozen=True, slots=True)
class Build:
    exit_code: int
    output: str
    warehouse: Path
    target: Path

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.target / "manifest.json").read_text())

    def results(self, *statuses: str) -> list[str]:
        content = json.loads((self.target / "run_results.json").read_text())
        return [node["unique_id"] for node in content["results"] if node["status"] in statuses]


def build(warehouse: Path, scratch: Path, *options: str, project: Path | None = None) -> Build:
    """Run `dbt build` and wait for it; `scratch` is the folder for dbt's output."""
    done = run(warehouse, scratch, "build", *options, project=project)
    return Build(done.exit_code, done.output, warehouse, scratch / "target")


def run(
    warehouse: Path, scratch: Path, *command: str, project: Path | None = None, variables: Mapping[str, str] = {}
) -> Done:
    """Run a command of dbt, with variables of the environment beside vetl's, and wait for it."""
    return dbt(
        *("--no-version-check", "--no-use-colors", "--log-level-file", "none"),
        *command,
        *places(project or dbt_project(), scratch),
        *([] if "--vars" in command else VARIABLES),
        folder=scratch,
        environment={**os.environ, **environment(warehouse), **variables},
    )


def places(project: Path, scratch: Path) -> list[str]:
    """Return options that name the project, and dbt's output folders."""
    return [
        *("--project-dir", str(project), "--profiles-dir", str(project)),
        *("--target-path", str(scratch / "target"), "--log-path", str(scratch / "logs")),
    ]
