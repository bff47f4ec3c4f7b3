"""`vetl status` over a warehouse that is no database any more: the last snapshot, and one line that says so."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from pipelines import cli
from pipelines.endpoints import REGISTRY
from pipelines.loading.warehouse import Warehouse
from pipelines.practice import Practice

WAREHOUSE = Path("warehouse/data/vetl.duckdb")


@pytest.fixture(autouse=True)
def _synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warehouse with a practice, and the snapshot that a commit leaves."""
    monkeypatch.chdir(tmp_path)
    with Warehouse.open(WAREHOUSE, REGISTRY, lock_wait_seconds=0) as warehouse:
        warehouse.set_practices([Practice("loc-1", "Harbor", "UTC", date(2026, 1, 1))])
        warehouse.commit("run", "loc-1", REGISTRY[0], [])


def corrupt() -> None:
    WAREHOUSE.write_bytes(b"not a database at all")


@pytest.mark.parametrize(
    ("broken", "why"), [(corrupt, "is no DuckDB database"), (WAREHOUSE.unlink, "cannot be read")]
)
def test_the_table_is_shown_and_one_line_says_what_is_wrong(
    broken: Callable[[], None], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    broken()

    assert cli.execute(["status"]) == 1

    out, err = capsys.readouterr()
    assert "loc-1" in out
    assert err.startswith(f"{WAREHOUSE}: {why}") or f"/{WAREHOUSE}: {why}" in err
    assert err.count("\n") == 1
    assert cli.execute(["status", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["exit_code"] == 1
    assert why in told["error"]
    assert told["lists"]


def test_a_sound_file_is_told_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["status", "--json"]) == 0

    assert "error" not in json.loads(capsys.readouterr().out)
