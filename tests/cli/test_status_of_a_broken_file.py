"""`vetl status` over a damaged warehouse: the last snapshot, and one line about the damage."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb
import pytest

from pipelines.cli import app
from pipelines.core.practice import Practice
from pipelines.endpoints import REGISTRY
from pipelines.loading.file_header import what_is_wrong
from pipelines.loading.warehouse import Warehouse

WAREHOUSE = Path("warehouse/data/vetl.duckdb")


@pytest.fixture(autouse=True)
def _synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide a warehouse with a practice, and the snapshot of a commit."""
    monkeypatch.chdir(tmp_path)
    Path("vetl.toml").touch()
    with Warehouse.open(WAREHOUSE, REGISTRY, lock_wait_seconds=0) as warehouse:
        warehouse.set_practices([Practice("loc-1", "Harbor", "UTC", date(2026, 1, 1))])
        warehouse.commit("run", "loc-1", REGISTRY[0], [])


def corrupt() -> None:
    WAREHOUSE.write_bytes(b"not a database at all")


def cut_off() -> None:
    content = WAREHOUSE.read_bytes()
    WAREHOUSE.write_bytes(content[: len(content) // 2])


def cut_to_its_head() -> None:
    WAREHOUSE.write_bytes(WAREHOUSE.read_bytes()[:5_000])


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (corrupt, "is no DuckDB database"),
        (WAREHOUSE.unlink, "cannot be read"),
        (cut_off, "is cut off"),
        (cut_to_its_head, "is cut off"),
    ],
)
def test_the_table_is_shown_with_one_line_about_the_damage(
    broken: Callable[[], None], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    broken()

    assert app.execute(["status"]) == 1

    out, err = capsys.readouterr()
    assert "loc-1" in out
    assert err.startswith(f"{WAREHOUSE}: {why}") or f"/{WAREHOUSE}: {why}" in err
    assert err.count("\n") == 1
    assert app.execute(["status", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == 1
    assert why in document["error"]
    assert document["lists"]


def test_an_undamaged_file_has_no_such_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["status", "--json"]) == 3  # no list has been read yet

    assert "error" not in json.loads(capsys.readouterr().out)


def test_a_file_that_grows_and_shrinks_is_sound_all_the_time(tmp_path: Path) -> None:
    """DuckDB appends blocks before it counts them, and truncates the file before it reduces the count."""
    path = tmp_path / "any.duckdb"
    statements = [
        "create table a as select range as n, range::varchar as t from range(300_000)",
        "checkpoint",
        "delete from a where n % 3 = 0",
        "checkpoint",
        "drop table a",
        "checkpoint",
        "create table b as select 1 as n",
    ]
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
            assert what_is_wrong(path) is None, statement
    assert what_is_wrong(path) is None
