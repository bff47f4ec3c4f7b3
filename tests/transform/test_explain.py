"""The rows that `vetl explain` names give the cell of the mart, for every measure that is declared."""

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from support.cells import Query, rate, same
from support.dbt_build import Build
from support.mart_builds import build_models
from support.random_rows import CLOCKS, PRACTICES, random_tables
from support.raw_tables import create_warehouse
from support.run_once import shared_result
from vetl.bundled import dbt_project
from vetl.cli import app
from vetl.cli.explain import question_about
from vetl.core.errors import WrongUse
from vetl.core.published_file import SCHEMAS
from vetl.figures.catalogue import columns_of, metrics_of
from vetl.figures.counting import counted_columns
from vetl.figures.evidence import moved_rows
from vetl.figures.explanation import CellQuestion, explain, explainable
from vetl.publishing.marts import table_of
from vetl.publishing.statements import reading

NO_COUNTS = {
    "booking_funnel_stages": {"position"},
    "booking_intent_hourly": {"hours"},
    "unbooked_value_monthly": {"assumed_value_low", "assumed_value_high"},
    "practice_peers": {"low", "high", "peers", "place", "practices"},
    "phone_load_hourly": {"days", "staff_hours_needed", "usual_at_once", "most_at_once"},
}
"""Numbers that count no rows of the practice: a place in an order, hours on the clock, money that is assumed,
bounds of chance, and the figures of other practices."""

COUNTING = sorted(
    path.stem
    for schema in SCHEMAS
    for path in (dbt_project() / "models" / schema).rglob("*.sql")
    if path.stem.endswith(("_daily", "_weekly", "_monthly", "_hourly", "_stages", "_peers"))
)
"""The marts that count rows of other marts."""


@pytest.fixture(scope="module", params=[20251112, 1])
def of_a_seed(request: pytest.FixtureRequest, file: Path) -> Path:
    """Provide the marts over rows of another seed; the first is that of all tests."""

    def work(folder: Path) -> Path:
        tables = random_tables(request.param, rows=400)
        warehouse = create_warehouse(folder / "vetl.duckdb", practices=PRACTICES, clocks=CLOCKS, tables=tables)
        build_models(warehouse)
        return warehouse

    return file if request.param == 20251112 else shared_result(f"seed-{request.param}", work)


def grain(build: Build, mart: str) -> list[str]:
    return build.manifest["nodes"][f"model.vetl.{mart}"]["config"]["meta"]["grain"].split(", ")


def question(mart: str, column: str, key: dict[str, Any]) -> CellQuestion:
    names = set(key)
    practice, day = key.pop("practice_id"), key.pop("day", key.pop("week", None))
    where = [f"{name}={'null' if value is None else value}" for name, value in key.items()]
    period = {"practice_weekly": "week"}.get(mart, "day")
    if day is None and period in names:
        where.append(f"{period}=null")
    return CellQuestion(mart, column, practice, day, where)


@pytest.mark.parametrize("mart", COUNTING)
def test_the_rows_give_each_cell(mart: str, of_a_seed: Path, filled: Build) -> None:
    """Each measure of each row of the mart, counted from the rows that its declaration names."""
    names = grain(filled, mart)
    with reading(of_a_seed) as read:
        columns = counted_columns(read, mart, metrics_of(read, of_a_seed), columns_of(read))
        assert columns.counted
        for column, how in columns.counted.items():
            keys = [name for name in names if name not in how.ignored]
            held = [
                how.dimensions[{"practice_id": "practice"}.get(key, columns.metric_of.get(key, key))]
                for key in keys
            ]
            of_parts = [
                {
                    row[:-1]: row[-1]
                    for row in read(
                        f"select {', '.join((*held, part.total))} from {part.source} as counted group by all"
                    ).rows
                }
                for part in how.parts.values()
            ]
            nothing = 0 if how.metric.aggregation in {"count", "distinct"} else None
            for *key, value in read(f"select {', '.join((*keys, column))} from {table_of(mart)}").rows:
                found = [of_part.get(tuple(key), nothing) for of_part in of_parts]
                expected = rate(found[0] or 0, found[1] or 0) if len(found) > 1 else found[0]
                assert same(value, expected), (column, key)


@pytest.mark.parametrize("mart", COUNTING)
def test_an_explanation_names_the_rows_of_a_cell(mart: str, file: Path, filled: Build, query: Query) -> None:
    names = grain(filled, mart)
    for column in [column for name, column in explainable(file) if name == mart]:
        for *key, value in query(
            f"select {', '.join(names)}, {column} from {table_of(mart)} order by {column} desc nulls last,"
            f" {', '.join(names)} limit 1"
        ):
            found = explain(file, question(mart, column, dict(zip(names, key, strict=True))))
            assert same(value, found.value), (column, key)
            assert found.agrees, (column, key)
            if found.metric.aggregation == "count":
                assert len(found.rows) == value, (column, key)


def test_every_measure_of_every_mart_is_declared(file: Path, query: Query) -> None:
    declared: dict[str, set[str]] = {}
    for mart, column in explainable(file):
        declared.setdefault(mart, set()).add(column)
    assert set(declared) == set(COUNTING)
    for mart, columns in declared.items():
        numbers = {
            name
            for name, kind in query(
                f"select column_name, data_type from duckdb_columns() where table_name = '{mart}'"
                " and schema_name in ('marts', 'meta')"
            )
            if kind in {"BIGINT", "DOUBLE", "INTEGER"}
        }
        assert numbers - columns - {"weekday", "hour"} == NO_COUNTS.get(mart, set()), (
            f"{mart}: a number says what it counts (docs/marts.md), or stands in NO_COUNTS"
        )


def test_a_rate_has_the_rows_of_both_counts_and_its_evidence(file: Path, query: Query) -> None:
    ((practice, day),) = query(
        "select practice_id, day from marts.booking_intent_daily where intent_calls > 1 and day is not null"
        " group by all order by sum(intent_calls) desc, 1, 2 limit 1"
    )
    found = explain(file, CellQuestion("booking_intent_daily", "intent_conversion_rate", practice, day))
    expected = query(
        "select sum(intent_booked_calls), sum(intent_calls) from marts.booking_intent_daily"
        f" where practice_id = '{practice}' and day = date '{day}'"
    )
    counts = [row[0] for row in found.rows]

    assert [(counts.count("numerator"), counts.count("denominator"))] == expected
    assert same(found.value, expected[0][0] / expected[0][1])
    assert {item.endpoint for item in found.certificates} <= {"phone_calls"}
    assert "call_key" in found.columns
    assert not {"client_name", "phone_number", "summary"} & set(found.columns)


def test_what_a_report_said_before_is_told_for_a_day_of_a_practice(file: Path, query: Query) -> None:
    ((practice, name, day, reported, now),) = query(
        "select practice_id, name, day, reported, now from meta.report_revisions join marts.practices"
        " using (practice_id) where mart = 'booking_intent_daily' and measure = 'calls' and now > 0"
        " order by all limit 1"
    )
    for asked in (
        CellQuestion("booking_intent_daily", "calls", practice, day),
        CellQuestion("booking_intent_daily", "calls", name.upper(), day),
        CellQuestion("booking_intent_daily", "calls", where=[f"practice={practice}", f"day={day}"]),
    ):
        found = explain(file, asked)
        assert [(item.reported, item.now) for item in found.revisions] == [(reported, now)]
        assert found.value == now
    part = CellQuestion("booking_intent_daily", "calls", practice, day, ["direction=inbound"])
    assert explain(file, part).revisions == []


def test_the_rows_that_moved_a_figure_since_its_report_add_up_to_the_difference(file: Path, query: Query) -> None:
    for practice, day, reported, now in query(
        "select practice_id, day, reported, now from meta.report_revisions where mart = 'booking_intent_daily'"
        " and measure = 'booked_calls' and reported <> now order by abs(reported - now) desc, 1, 2 limit 3"
    ):
        moved = moved_rows(file, "booking_intent_daily", practice, day)
        then, latest = (
            sum(bool(json.loads(state)["booked"]) for row in moved if (state := getattr(row, name)))
            for name in ("reported", "now")
        )
        assert latest - then == now - reported, (practice, day)


@pytest.mark.parametrize(
    ("figure", "named"),
    [("tasks_completed", "staff_task_turnaround_daily.completed"), ("nothing", "booking_intent_daily.calls")],
)
def test_a_metric_without_a_mart_is_refused_with_the_columns_that_hold_it(
    figure: str, named: str, file: Path
) -> None:
    with pytest.raises(WrongUse, match=f"^{figure}: must be a mart and a column, such as .*{named}"):
        question_about(file, figure, None)


@pytest.mark.parametrize("spelled", [str, str.upper])
def test_the_private_file_knows_a_practice_by_its_name_too(
    spelled: Callable[[str], str],
    filled: Build,
    query: Query,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("vetl.duckdb", "analytics.duckdb"):
        shutil.copy(filled.warehouse, name)
    Path("vetl.toml").write_text('[warehouse]\npath = "vetl.duckdb"\npublished = "analytics.duckdb"\n')
    ((practice, day),) = query(
        "select name, day from meta.report_revisions join marts.practices using (practice_id)"
        " where mart = 'booking_intent_daily' and measure = 'booked_calls' and reported <> now"
        " order by all limit 1"
    )
    chosen = ["--practice", spelled(practice), "--day", str(day)]

    assert app.execute(["explain", "booking_intent_daily.booked_calls", *chosen, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["moved"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (CellQuestion("practice_daily", "cals"), "column cals: not known here; did you mean calls"),
        (CellQuestion("bookings", "calls"), "mart bookings: not known here"),
        (CellQuestion("practice_daily", "unique_callers"), "values do not add up"),
        (
            CellQuestion("booking_intent_hourly", "hours"),
            r"its rows are not declared \(`counts` in the .yml of its mart.*; of booking_intent_hourly these",
        ),
        (CellQuestion("practice_daily", "calls", "nobody"), "practice nobody: not known here; values are "),
        (
            CellQuestion("practice_daily", "calls", day=date(2099, 1, 1)),
            r"no row has day=2099-01-01; rows are from \d+-\d+-\d+ to ",
        ),
        (
            CellQuestion("staff_task_turnaround_daily", "created", where=["task_type=unheard"]),
            "no row has task_type=unheard; values are ",
        ),
        (
            CellQuestion("booking_intent_hourly", "calls", day=date(2025, 3, 1)),
            "has no days.* takes weekday, hour",
        ),
        (CellQuestion("practice_peers", "cases"), "choose one by --where measure=VALUE; values are answered_rate"),
        (CellQuestion("practice_peers", "value", "ny"), "several measures are chosen"),
    ],
)
def test_a_figure_that_cannot_be_explained_gets_one_line(asked: CellQuestion, message: str, file: Path) -> None:
    with pytest.raises(WrongUse, match=message) as refused:
        explain(file, asked)

    assert "\n" not in str(refused.value)
