"""A dbt project with few of vetl's models: some marts, all that they are made from, and the tests of both.

A build of it takes the same steps as a build of the whole project.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from pipelines.bundled import dbt_project
from pipelines.jobs.build import dbt_variables
from pipelines.jobs.dbt_process import dbt_parse
from pipelines.settings import Settings

READ_BY_VETL = ("practices", "proof", "int_time_boundaries")
LEFT_OUT = shutil.ignore_patterns("target", "logs", "exposures", "metrics", "rows_that_change_alike_*.sql")


def small_project(folder: Path, *models: str) -> Path:
    """Return the folder of a new project with these models in the given folder."""
    manifest = dbt_parse(folder / "none.duckdb", dbt_variables(Settings.model_construct()))
    wanted = _with_inputs({*READ_BY_VETL, *models}, json.loads(manifest.read_text("utf-8"))["nodes"])
    project = folder / "dbt"
    shutil.copytree(dbt_project(), project, ignore=LEFT_OUT)
    for model in (project / "models").rglob("*.sql"):
        description = model.with_suffix(".yml")
        if model.stem in wanted:
            described = yaml.safe_load(description.read_text("utf-8"))
            described.pop("unit_tests", None)  # their inputs may be models that are left out
            description.write_text(yaml.safe_dump(described), "utf-8")
        else:
            model.unlink()
            description.unlink()
    return project


def _with_inputs(models: set[str], nodes: dict[str, Any]) -> set[str]:
    """Return the names of the models, of all models from which they are made, and of those that tests need."""
    tests = [(node.get("attached_node"), node["depends_on"]["nodes"]) for node in nodes.values()]
    found: set[str] = set()
    ahead = [f"model.vetl.{name}" for name in models]
    while ahead:
        model = ahead.pop()
        if model in nodes and model not in found:
            found.add(model)
            ahead += nodes[model]["depends_on"]["nodes"]
            ahead += [needed for of, inputs in tests if of == model for needed in inputs]
    return {nodes[model]["name"] for model in found}
