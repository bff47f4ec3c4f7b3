"""`vetl query`: any statement on the published file, in every format."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from pipelines.cli import app

ROWS = """
    create schema marts;
    create table marts.odd as select * from (values
        (1, 'a|b', timestamptz '2025-01-02 03:04:05.5+00', true, 1.5, ['x', 'y']),
        (2, null, null, null, 'nan'::double, null)
    ) odd(id, name, seen_at, flag, rate, labels);
"""
ALL = "from marts.odd order by id"


@pytest.fixture(autouse=True)
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "analytics.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(ROWS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VETL_CONFIG", raising=False)
    monkeypatch.setenv("VETL_WAREHOUSE__PUBLISHED", str(file))
    monkeypatch.setenv("VETL_WAREHOUSE__PATH", str(tmp_path / "vetl.duckdb"))
    return file


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert app.execute(["query", *arguments]) == 0
    return capsys.readouterr().out


def test_csv_reads_back(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.reader(io.StringIO(answer(capsys, ALL, "--format", "csv"))))

    assert rows[0] == ["id", "name", "seen_at", "flag", "rate", "labels"]
    assert rows[1] == ["1", "a|b", "2025-01-02 03:04:05.500000Z", "true", "1.5", '["x","y"]']
    assert rows[2] == ["2", "", "", "", "nan", ""]


def test_json_is_one_array_of_objects(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = json.loads(answer(capsys, ALL, "--format", "json"))

    assert first == {
        "id": 1,
        "name": "a|b",
        "seen_at": "2025-01-02T03:04:05.500000Z",
        "flag": True,
        "rate": 1.5,
        "labels": ["x", "y"],
    }
    assert second["rate"] is None


def test_the_json_flag_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(answer(capsys, "select 1 as a, 'x' as b", "--json")) == {
        "exit_code": 0,
        "columns": ["a", "b"],
        "rows": [[1, "x"]],
    }


def test_markdown_escapes_characters_that_end_a_cell(capsys: pytest.CaptureFixture[str]) -> None:
    lines = answer(capsys, "select id, name from marts.odd order by id", "--format", "markdown").splitlines()

    assert lines == ["| id | name |", "| --- | --- |", "| 1 | a\\|b |", "| 2 |  |"]


def test_parquet_reads_back(tmp_path: Path) -> None:
    script = f"import sys; sys.path[:0] = {sys.path}; from pipelines.cli.app import main; main()"
    target = tmp_path / "rows.parquet"
    with target.open("wb") as file:
        command = [sys.executable, "-c", script, "query", ALL, "--format", "parquet"]
        subprocess.run(command, stdout=file, check=True)

    assert pl.read_parquet(target)["id"].to_list() == [1, 2]


def test_a_table_without_a_terminal_cuts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 500

    assert long in answer(capsys, f"select '{long}' as text, 1 as n")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("selec 1", "syntax error"),
        ("from marts.nope", "nope"),
        ("create table marts.mine (a int)", "read-only"),
        ("drop table marts.odd", "read-only"),
        ("", "no rows to show"),
    ],
)
def test_a_statement_that_cannot_be_answered_is_one_line_and_exit_2(
    sql: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.execute(["query", sql]) == 2

    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1
