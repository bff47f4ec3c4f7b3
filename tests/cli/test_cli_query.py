"""`vetl query`: any reading statement on the published file, in every format, in bounded memory."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import duckdb
import polars as pl
import pytest
from support.processes import until
from vetl.cli import app

MEGABYTE = 1_048_576
ROWS = """
    create schema marts;
    create table marts.clients as select 'Jane' as name;
    create table marts.odd as select * from (values
        (1, 'a|b', timestamptz '2025-01-02 03:04:05.5+00', true, 1.5, ['x', 'y']),
        (2, null, null, null, 'nan'::double, null)
    ) odd(id, name, seen_at, flag, rate, labels);
"""
ALL = "from marts.odd order by id"


@pytest.fixture(autouse=True)
def _published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide a published and a private file in the working directory."""
    for name, variable in (("analytics.duckdb", "PUBLISHED"), ("vetl.duckdb", "PATH")):
        with duckdb.connect(str(tmp_path / name)) as connection:
            connection.execute(ROWS)
        monkeypatch.setenv(f"VETL_WAREHOUSE__{variable}", str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VETL_CONFIG", raising=False)


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

    assert list(first) == ["id", "name", "seen_at", "flag", "rate", "labels"]
    assert list(first.values()) == [1, "a|b", "2025-01-02T03:04:05.500000Z", True, 1.5, ["x", "y"]]
    assert second["rate"] is None


def test_json_has_bytes_as_hex_and_no_object_loses_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(answer(capsys, "select '\\xFF'::blob as a", "--format", "json")) == [{"a": "ff"}]
    assert app.execute(["query", "select 1 as a, 2 as a", "--format", "json"]) == 2
    assert "two columns are called a" in capsys.readouterr().err


def test_the_json_flag_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(answer(capsys, "select 1 as a, 'x' as b", "--json"))

    assert document == {"exit_code": 0, "columns": ["a", "b"], "rows": [[1, "x"]]}


def test_markdown_escapes_characters_that_end_a_cell(capsys: pytest.CaptureFixture[str]) -> None:
    lines = answer(capsys, "select id, name from marts.odd order by id", "--format", "markdown").splitlines()

    assert lines == ["| id | name |", "| --- | --- |", "| 1 | a\\|b |", "| 2 |  |"]


def test_parquet_reads_back() -> None:
    with started(ALL, "--format", "parquet") as process:
        written, _ = process.communicate()

    assert pl.read_parquet(written)["id"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("selec 1", "syntax error"),
        ("from marts.od", 'table "od" not found; did you mean odd?'),
        ("from mart.odd", 'table "mart.odd" not found; did you mean odd?'),
        ("select nmae from odd", 'column "nmae" not found; did you mean name?'),
        ("select o.nmae from odd o", 'column "nmae" not found; did you mean name?'),
        ("from odd join clients using (nme)", 'column "nme" not found; did you mean name?'),
        ("from odd select * exclude (lables)", 'column "lables" not found; did you mean labels?'),
        ("select seen from odd", 'column "seen" not found; did you mean seen_at?'),
        ("select marts_x from odd", 'column "marts_x" not found; others are id, name, seen_at'),
        ("select x.id from odd p", 'table "x" not found; others are p'),
        ("select connt(*) from odd", "did you mean count?"),
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


def started(
    *arguments: str, prefix: Sequence[str] = (), stdout: int | BinaryIO = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Run `vetl query` as a process. `prefix` is a program that starts it."""
    command = [*prefix, sys.executable, "-m", "vetl", "query", *arguments]
    return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE)


@pytest.mark.parametrize("where", [[], ["--private"]], ids=["published", "private"])
@pytest.mark.parametrize(
    "sql",
    [
        "copy (select 42) to 'vetl.duckdb'",
        "copy (select 42) to 'analytics.duckdb'",
        "copy (select 42) to 'analytics.duckdb.wal'",
        "explain analyze copy (select 42) to 'analytics.duckdb.wal'",
        "explain analyze/**/copy (select 42) to 'analytics.duckdb.wal'",
        "select 1; copy (select 42) to 'analytics.duckdb.wal'",
        "export database 'all'",
        "attach 'vetl.duckdb' as private",
        "attach 'analytics.duckdb' as other",
        "from read_csv('/etc/passwd')",
        "from read_text('.env')",
        "from glob('*')",
        "from 'other.duckdb'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "reset lock_configuration",
        "pragma profiling_output = 'plan.json'",
        "call force_checkpoint()",
        "create temp table mine as select 1",
    ],
)
def test_a_statement_reads_the_one_file_and_touches_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sql: str, where: list[str]
) -> None:
    (tmp_path / ".env").write_text("VETL_PARTNER__PASSWORD=hush")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    assert app.execute(["query", sql, *where]) == 2

    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    "sql",
    [
        "from clients",
        "from marts.clients",
        "show all tables",
        "summarize marts.clients",
        "with mine as (select 1) from mine",
        "pivot marts.clients on name using count(*)",
        "explain from marts.clients",
        "explain analyze from marts.clients",
        "/* a word before */\nselect 1;",
    ],
)
def test_reading_statements_are_answered(capsys: pytest.CaptureFixture[str], sql: str) -> None:
    assert app.execute(["query", sql]) == 0
    assert capsys.readouterr().out


def test_a_cell_is_no_formula_of_a_spreadsheet(capsys: pytest.CaptureFixture[str]) -> None:
    formulas = ["=1+1", "@SUM(A1)", " =1", "+cmd|' /C calc'!A0", "-2+3+cmd", "\uff1d1+1"]
    others = ["+1 (555) 010-9999", "-5", "a=b"]
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in formulas + others)

    assert app.execute(["query", f"select unnest([{listed}]) as v, -5 as n", "--format", "csv"]) == 0

    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))[1:]
    assert [row[0] for row in rows] == [*(f"'{value}" for value in formulas), *others]
    assert {row[1] for row in rows} == {"-5"}


@pytest.mark.parametrize(
    "style", ["--format=table", "--format=csv", "--format=json", "--format=markdown", "--json"]
)
def test_a_value_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str], style: str) -> None:
    steering = "chr(27) || ']0;mine' || chr(7) || chr(155) || '2J' || chr(8238) || chr(13)"

    assert app.execute(["query", f"select {steering} as v", style]) == 0

    shown = capsys.readouterr().out
    assert {character for character in shown if ord(character) < 32} <= {"\n"}
    assert "\u202e" not in shown


@pytest.mark.parametrize("style", ["csv", "json"])
def test_rows_are_written_as_they_come(style: str) -> None:
    """As Python values these rows take 150 MB more."""
    long = "select range as a, 'value ' || repeat('x', 5000) || range as b from range(30_000)"
    with started(long, "--format", style) as process:
        assert process.stdout is not None
        written = held = 0
        while part := process.stdout.read(MEGABYTE):
            written += len(part)
            held = max(held, most_held(process.pid))
        process.wait()

    assert process.returncode == 0
    assert written > 10 * MEGABYTE
    assert 0 < held < 260 * MEGABYTE


def most_held(pid: int) -> int:
    """Return the most memory in bytes that a process has used so far; 0 after its end.

    `ru_maxrss` would include the memory of the parent at the start of the process.
    """
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


HEEDS_CTRL_C = ("env", "--default-signal=INT")
BACKGROUND = ("env", "--ignore-signal=INT")
"""A process that a script starts with `&` ignores Ctrl-C."""


@pytest.mark.parametrize(
    ("prefix", "how", "code", "said"),
    [
        (HEEDS_CTRL_C, signal.SIGINT, 130, b"interrupted"),
        (BACKGROUND, signal.SIGTERM, 143, b"terminated"),
    ],
)
def test_a_signal_ends_a_long_statement_with_one_line(
    prefix: Sequence[str], how: signal.Signals, code: int, said: bytes
) -> None:
    endless = "select sum(a.range * b.range) from range(10_000_000) a, range(10_000_000) b"
    with started(endless, prefix=prefix) as process:
        until("DuckDB works on the statement", lambda: computed_by_threads(process.pid) > 0.1)
        process.send_signal(how)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()

    assert (process.returncode, err.count(b"\n")) == (code, 1)
    assert said in err


def computed_by_threads(pid: int) -> float:
    """Return the seconds of CPU that the threads of a process have used, its main thread aside."""
    threads = (thread for thread in Path(f"/proc/{pid}/task").iterdir() if thread.name != str(pid))
    ticks = (int((thread / "stat").read_text().rpartition(")")[2].split()[11]) for thread in threads)
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("sql", ["from range(100_000)", "select 1"], ids=["while it is written", "at the end"])
def test_a_full_disk_behind_standard_output_is_named(sql: str) -> None:
    with Path("/dev/full").open("wb") as full, started(sql, "--format", "csv", stdout=full) as process:
        _, err = process.communicate()

    assert (process.returncode, err) == (1, b"vetl: standard output: No space left on device\n")
