"""The project as MetricFlow takes it: nothing to object to, and an answer to every saved query.

`test_explain.py` compares the definitions with the marts, `test_metric_questions.py` those that no mart has.
"""

import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.analysts_page import PAGE
from support.cells import Query
from support.dbt_build import Build
from support.run_once import shared_result
from vetl.bundled import dbt_project
from vetl.publishing.descriptions import declared_metrics

ASKING = Path(__file__).parents[1] / "support" / "metric_answers.py"


@dataclass(frozen=True, slots=True)
class MetricAnswers:
    """MetricFlow's objections to the project, and the rows of each saved query."""

    objections: list[str]
    saved: dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="session")
def asked(filled: Build) -> MetricAnswers:
    """Provide all answers of MetricFlow, from one process; it is slow to start."""
    saved = [node["name"] for node in filled.manifest["saved_queries"].values()]

    def work(folder: Path) -> MetricAnswers:
        (folder / "questions").write_bytes(pickle.dumps(saved))
        project, environment = copy_of(filled, folder)
        subprocess.run(
            [sys.executable, str(ASKING), str(project), str(folder / "questions"), str(folder / "answers")],
            env=environment,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        objections, answers = pickle.loads((folder / "answers").read_bytes())
        return MetricAnswers(objections, dict(zip(saved, answers, strict=True)))

    return shared_result("metrics", work)


def copy_of(build: Build, folder: Path) -> tuple[Path, dict[str, str]]:
    """Return copies of the project and the warehouse: `mf` writes beside the project and locks the warehouse."""
    project = folder / "project"
    shutil.copytree(dbt_project(), project, ignore=shutil.ignore_patterns("target", "logs"))
    (project / "target").mkdir()
    shutil.copy(build.target / "semantic_manifest.json", project / "target")
    warehouse = shutil.copy(build.warehouse, folder)  # under its name, which the manifest holds
    return project, {**os.environ, "VETL_WAREHOUSE__PATH": str(warehouse)}


def test_metricflow_has_nothing_to_object_to(asked: MetricAnswers) -> None:
    """The output of `mf validate-configs --show-all`, warnings included."""
    assert [line for line in asked.objections if line] == []


def test_the_settings_know_every_metric_and_those_of_now(query: Query) -> None:
    counted = query("select metric, coalesce(counting ->> 'of_now', 'false') = 'true' from meta.metrics")

    assert dict(counted) == declared_metrics(dbt_project())


def test_every_saved_query_is_documented_and_answered(filled: Build, asked: MetricAnswers) -> None:
    kept = {node["name"] for node in filled.manifest["saved_queries"].values()}

    assert kept
    assert kept == {name for name, rows in asked.saved.items() if rows}
    assert all(f"`{name}`" in PAGE.read_text("utf-8").replace("mf query --saved-query ", "") for name in kept)
