"""A copy of the dbt project and of what it built, for tools that write beside the one and lock the other."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from support.dbt_build import Build

from pipelines.bundled import dbt_project


@dataclass(frozen=True, slots=True)
class Copy:
    """A folder to run dbt's tools in, and the environment that names the warehouse."""

    project: Path
    warehouse: Path
    environment: dict[str, str]


def copy_of(build: Build, folder: Path) -> Copy:
    """Copy the project into a folder, what the build left of its semantic models, and the warehouse."""
    project = folder / "project"
    shutil.copytree(dbt_project(), project, ignore=shutil.ignore_patterns("target", "logs"))
    (project / "target").mkdir()
    shutil.copy(build.target / "semantic_manifest.json", project / "target")
    warehouse = Path(shutil.copy(build.warehouse, folder))  # under its name, which the manifest holds
    return Copy(project, warehouse, {**os.environ, "VETL_WAREHOUSE__PATH": str(warehouse)})
