"""The answers of MetricFlow, compared with the marts: by practice and day, by group, and by month."""

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
from support.cells import Cells, Query, assert_equal, cells, rate
from support.dbt_build import Build
from support.metric_marts import BY_DAY, MARTS, OTHERS, RATES, Mart, Question, months

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
        **{(mart.name, "month"): months(mart) for mart in MARTS},
        **{(name, ""): question for name, question in OTHERS.items()},
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


@pytest.mark.parametrize("mart", MARTS, ids=lambda mart: mart.name)
def test_metrics_of_a_month_are_its_days_added_up(mart: Mart, asked: MetricAnswers, query: Query) -> None:
    """Counts are the sums of the group's days; a rate is taken of the sums."""
    metrics, _ = months(mart)
    columns = {metric: column for column, metric in mart.metrics.items()} | {"stage_left": "reached - continued"}
    counts = {name: columns[name] for name in metrics if name not in RATES}
    parts = {part: columns[part] for name in metrics for part in RATES.get(name, ())}
    sums = ", ".join(f"sum({expression})" for expression in (counts | parts).values())
    expected: Cells = {}
    for group, month, *values in query(
        "select group_name, cast(date_trunc('month', day) as date), "
        f"{sums} from marts.{mart.daily} join marts.practices using (practice_id)"
        " where group_name is not null group by all"
    ):
        totals = dict(zip(counts | parts, values, strict=True))
        rates = {
            name: rate(totals[RATES[name][0]] or 0, totals[RATES[name][1]]) for name in metrics if name in RATES
        }
        expected[group, month] = tuple((totals | rates)[name] for name in metrics)
    rows = [row for row in asked.answers[mart.name, "month"] if row[0] is not None]

    assert_equal(expected, cells(rows, 2))


def test_metrics_by_hour_of_the_week_are_the_hourly_mart(asked: MetricAnswers, query: Query) -> None:
    columns = ", ".join(OTHERS["hourly"][0])
    expected = query(
        f"select practice_id, weekday, hour, {columns} from marts.booking_intent_hourly"
        " where calls > 0 and hours > 0"
    )
    rows = [row for row in asked.answers["hourly", ""] if row[1] is not None]

    assert_equal(cells(expected, 3), cells(rows, 3))


def test_suppressed_requests_are_the_suppressions_mart(asked: MetricAnswers, query: Query) -> None:
    rows = [row for row in asked.answers["suppressed", ""] if row[-1]]

    assert_equal(cells(query("select * from marts.outreach_suppressions_daily"), 4), cells(rows, 4))


def test_metrics_of_demand_are_the_ledger_and_the_leak_list(asked: MetricAnswers, query: Query) -> None:
    expected = query(
        "select practice_id, first_channel, count(*), count(booked_via),"
        " count(*) filter (where attribution = 'exact'), count(lost_at), count(leaks.episode_id),"
        " sum(demand_ledger.contacts), count(booked_via) / count(*), median(hours_to_booking),"
        " count(*) filter (where is_kept),"
        " count(*) filter (where begun_by = 'client' and booked_at is null and not is_anonymous)"
        " from marts.demand_ledger left join marts.leak_list as leaks using (practice_id, episode_id) group by all"
    )

    assert_equal(cells(expected, 2), cells(asked.answers["demand", ""], 2))


def test_metrics_of_appointments_are_their_rows(asked: MetricAnswers, query: Query) -> None:
    expected = query(
        "select practice_id, booked_via, count(*), count(booked_via) from marts.appointments group by all"
    )

    assert_equal(cells(expected, 2), cells(asked.answers["appointments", ""], 2))


def test_minutes_on_the_telephone_are_those_of_answered_calls(asked: MetricAnswers, query: Query) -> None:
    expected = query(
        "select practice_id, direction, sum(duration_seconds) filter (where is_answered) / 60,"
        " count(*) filter (where is_answered) / count(*)"
        " from marts.phone_calls group by all"
    )

    assert_equal(cells(expected, 2), cells(asked.answers["minutes", ""], 2))


def test_who_leaves_at_a_stage_is_the_stages_mart(asked: MetricAnswers, query: Query) -> None:
    expected = query(
        "select practice_id, stage, sum(reached - continued) from marts.booking_funnel_stages group by all"
    )

    assert_equal(cells(expected, 2), cells(asked.answers["leavers", ""], 2))


def test_every_metric_is_compared(filled: Build) -> None:
    compared = {name for mart in MARTS for name in mart.metrics.values()}
    compared |= {name for metrics, _ in OTHERS.values() for name in metrics}

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
