"""The answers of MetricFlow, compared with those of `vetl metric`: two engines for the same definitions.

`test_explain.py` compares the definitions with the marts, `test_metric_questions.py` those that no mart has.
"""

import csv
import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.analysts_page import PAGE
from support.cells import Query, assert_equal, cells
from support.dbt_build import Build
from support.run_once import shared_result
from vetl.bundled import dbt_project
from vetl.core.metric_names import METRIC_NAMES, METRICS_OF_NOW
from vetl.loading.published.figures.ask import MetricQuestion, ask

ASKING = Path(__file__).parents[1] / "support" / "metric_answers.py"
STAGES = "semantic_model.vetl.booking_stages"
"""The metrics of these rows have a value for a stage alone."""
Question = tuple[list[str], list[str]]
"""Metrics, and their grouping."""


@dataclass(frozen=True, slots=True)
class MetricAnswers:
    """MetricFlow's objections to the project, and its answers, with columns in the order of the question."""

    objections: list[str]
    by_day: list[tuple[Question, list[tuple[Any, ...]]]]
    saved: dict[str, list[tuple[Any, ...]]]


def questions_of(manifest: dict[str, Any]) -> list[Question]:
    """Return questions for the metrics of each semantic model, by practice, and by day if they are not of now."""
    metrics = manifest["metrics"]
    by_model: dict[str, list[str]] = defaultdict(list)
    for node in metrics.values():
        first = node["depends_on"]["nodes"][0]
        model = metrics[first]["depends_on"]["nodes"][0] if first in metrics else first
        by_model[model].append(node["name"])
    by_day = [
        (
            [name for name in names if name not in METRICS_OF_NOW],
            ["practice", "metric_time__day", *(["stage_of_day__stage"] if model == STAGES else [])],
        )
        for model, names in by_model.items()
    ]
    of_now = [([name for name in names if name in METRICS_OF_NOW], ["practice"]) for names in by_model.values()]
    return [*by_day, *(one for one in of_now if one[0])]


@pytest.fixture(scope="session")
def asked(filled: Build) -> MetricAnswers:
    """Provide all answers of MetricFlow, from one process; it is slow to start."""
    by_day = questions_of(filled.manifest)
    saved = [node["name"] for node in filled.manifest["saved_queries"].values()]

    def work(folder: Path) -> MetricAnswers:
        (folder / "questions").write_bytes(pickle.dumps([*by_day, *saved]))
        project, environment = copy_of(filled, folder)
        subprocess.run(
            [sys.executable, str(ASKING), str(project), str(folder / "questions"), str(folder / "answers")],
            env=environment,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        objections, answers = pickle.loads((folder / "answers").read_bytes())
        ordered = [(one, in_order(one, answer)) for one, answer in zip(by_day, answers, strict=False)]
        rows = [rows for _, rows in answers[len(by_day) :]]
        return MetricAnswers(objections, ordered, dict(zip(saved, rows, strict=True)))

    return shared_result("metrics", work)


def copy_of(build: Build, folder: Path) -> tuple[Path, dict[str, str]]:
    """Return copies of the project and the warehouse: `mf` writes beside the project and locks the warehouse."""
    project = folder / "project"
    shutil.copytree(dbt_project(), project, ignore=shutil.ignore_patterns("target", "logs"))
    (project / "target").mkdir()
    shutil.copy(build.target / "semantic_manifest.json", project / "target")
    warehouse = shutil.copy(build.warehouse, folder)  # under its name, which the manifest holds
    return project, {**os.environ, "VETL_WAREHOUSE__PATH": str(warehouse)}


def in_order(question: Question, answer: tuple[Sequence[str], list[Any]]) -> list[Any]:
    (metrics, group_by), (columns, rows) = question, answer
    places = [columns.index(name) for name in (*group_by, *metrics)]
    return [tuple(as_date(row[place]) for place in places) for row in rows]


def as_date(value: Any) -> Any:
    return value.date() if isinstance(value, datetime) else value


def test_metricflow_has_nothing_to_object_to(asked: MetricAnswers) -> None:
    """The output of `mf validate-configs --show-all`, warnings included."""
    assert [line for line in asked.objections if line] == []


def test_both_engines_give_the_same_answers(asked: MetricAnswers, filled: Build, tmp_path: Path) -> None:
    file = Path(shutil.copy(filled.warehouse, tmp_path))
    for (metrics, group_by), rows in asked.by_day:
        by = ("practice", "day", "stage")[: len(group_by)]
        for place, metric in enumerate(metrics, len(by)):
            ours = {tuple(row[: len(by)]): (row[-3],) for row in ask(file, MetricQuestion(metric, by)).rows}
            theirs = {key: (row[place - len(by)],) for key, row in cells(rows, len(by)).items()}
            in_use = [{key: cell for key, cell in one.items() if cell[0]} for one in (ours, theirs)]
            assert_equal(*in_use)
            assert ours, metric


def test_the_settings_know_every_metric_and_those_of_now(query: Query) -> None:
    counted = query("select metric, coalesce(counting ->> 'of_now', 'false') = 'true' from marts.metrics")

    assert {name for name, _ in counted} == METRIC_NAMES
    assert {name for name, is_of_now in counted if is_of_now} == METRICS_OF_NOW


def test_every_metric_has_a_description(filled: Build) -> None:
    content = filled.manifest
    for metric in content["metrics"].values():
        assert metric["description"].strip(), metric["name"]
        assert metric["label"] != metric["name"]
    for model in content["semantic_models"].values():
        assert model["description"].strip(), model["name"]
        assert model["config"]["meta"]["owner"], model["name"]


def test_mf_runs_the_command_of_the_analysts_page(filled: Build, tmp_path: Path, query: Query) -> None:
    """The command of warehouse/README.md, unchanged, in a process of its own."""
    command = re.search(r"\S+/mf (query(?:.*\\\n)*.*)", PAGE.read_text("utf-8"))
    assert command
    project, environment = copy_of(filled, tmp_path)
    answer = tmp_path / "answer.csv"
    done = subprocess.run(
        [Path(sys.executable).with_name("mf"), *shlex.split(command[1].replace("\\\n", "")), "--csv", answer],
        env=environment,
        cwd=project,
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    with answer.open() as lines:
        rows = [(row["practice__group_name"], int(row["calls"])) for row in csv.DictReader(lines)]
    expected = query(
        "select group_name, cast(sum(calls) as bigint) from marts.practice_daily"
        " where group_name is not null and calls > 0 group by group_name, date_trunc('month', day)"
    )
    assert sorted(expected) == sorted((group, calls) for group, calls in rows if group)


def test_every_saved_query_is_documented_and_answered(filled: Build, asked: MetricAnswers) -> None:
    kept = {node["name"] for node in filled.manifest["saved_queries"].values()}

    assert kept
    assert kept == {name for name, rows in asked.saved.items() if rows}
    assert all(f"`{name}`" in PAGE.read_text("utf-8").replace("mf query --saved-query ", "") for name in kept)
