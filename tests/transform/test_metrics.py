"""The answers of MetricFlow, compared with the marts.

`test_metric_questions.py` compares those of `vetl metric`, from the same definitions, by other periods too.
"""

import csv
import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.analysts_page import PAGE
from support.cells import Query, assert_equal, cells
from support.dbt_build import Build
from support.metric_marts import BY_DAY, MARTS, OTHERS, Mart, Question

from pipelines.bundled import dbt_project

ASKING = Path(__file__).parents[1] / "support" / "metric_answers.py"
Answers = dict[tuple[str, str], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class MetricAnswers:
    """MetricFlow's objections to the project, and its answers, with columns in the order of the question."""

    objections: list[str]
    answers: Answers


@pytest.fixture(scope="session")
def asked(
    filled: Build, once_per_run: Callable[[str, Callable[[Path], MetricAnswers]], MetricAnswers]
) -> MetricAnswers:
    """Provide all answers of MetricFlow, from one process; it is slow to start."""
    questions: dict[tuple[str, str], Question | str] = {
        **{(mart.name, "day"): mart.question(BY_DAY) for mart in MARTS},
        **{(name, ""): question for name, (question, _) in OTHERS.items()},
        **{(node["name"], "kept"): node["name"] for node in filled.manifest["saved_queries"].values()},
    }

    def work(folder: Path) -> MetricAnswers:
        (folder / "questions").write_bytes(pickle.dumps(list(questions.values())))
        project, environment = copy_of(filled, folder)
        subprocess.run(
            [sys.executable, str(ASKING), str(project), str(folder / "questions"), str(folder / "answers")],
            env=environment,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        objections, answers = pickle.loads((folder / "answers").read_bytes())
        return MetricAnswers(
            objections, dict(zip(questions, map(in_order, questions.values(), answers), strict=True))
        )

    return once_per_run("metrics", work)


def copy_of(build: Build, folder: Path) -> tuple[Path, dict[str, str]]:
    """Return copies of the project and the warehouse: `mf` writes beside the project and locks the warehouse."""
    project = folder / "project"
    shutil.copytree(dbt_project(), project, ignore=shutil.ignore_patterns("target", "logs"))
    (project / "target").mkdir()
    shutil.copy(build.target / "semantic_manifest.json", project / "target")
    warehouse = shutil.copy(build.warehouse, folder)  # under its name, which the manifest holds
    return project, {**os.environ, "VETL_WAREHOUSE__PATH": str(warehouse)}


def in_order(question: Question | str, answer: tuple[Sequence[str], list[Any]]) -> list[Any]:
    columns, rows = answer
    if isinstance(question, str):
        return rows
    metrics, group_by = question
    places = [columns.index(name) for name in (*group_by, *metrics)]
    return [tuple(as_date(row[place]) for place in places) for row in rows]


def as_date(value: Any) -> Any:
    return value.date() if isinstance(value, datetime) else value


def test_metricflow_has_nothing_to_object_to(asked: MetricAnswers) -> None:
    """The output of `mf validate-configs --show-all`, warnings included."""
    assert [line for line in asked.objections if line] == []


@pytest.mark.parametrize("mart", MARTS, ids=lambda mart: mart.name)
def test_metrics_are_the_daily_mart(mart: Mart, asked: MetricAnswers, query: Query) -> None:
    key = len(BY_DAY) + len(mart.dimensions)
    expected = query(f"select {', '.join(mart.columns(BY_DAY))} from marts.{mart.daily}")

    assert_equal(cells(expected, key), cells(asked.answers[mart.name, "day"], key))


@pytest.mark.parametrize("name", OTHERS)
def test_other_metrics_are_the_rows_that_they_count(name: str, asked: MetricAnswers, query: Query) -> None:
    """MetricFlow also answers for hours without a day, and for groups without a request."""
    (_, group_by), sql = OTHERS[name]
    rows = asked.answers[name, ""]
    if name == "hourly":
        rows = [row for row in rows if row[1] is not None]
    if name == "suppressed":
        rows = [row for row in rows if row[-1]]

    assert_equal(cells(query(sql), len(group_by)), cells(rows, len(group_by)))


def test_every_metric_is_compared(filled: Build) -> None:
    compared = {name for mart in MARTS for name in mart.metrics.values()}
    compared |= {name for (metrics, _), _ in OTHERS.values() for name in metrics}

    assert {node["name"] for node in filled.manifest["metrics"].values()} == compared


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
        [
            str(Path(sys.executable).with_name("mf")),
            *shlex.split(command[1].replace("\\\n", "")),
            "--csv",
            str(answer),
        ],
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
    assert kept == {name for (name, kind), rows in asked.answers.items() if kind == "kept" and rows}
    assert all(f"`{name}`" in PAGE.read_text("utf-8").replace("mf query --saved-query ", "") for name in kept)
