"""A warehouse of vetl 0.1.0 is migrated, built and synced; every command refuses a newer one.

`support/warehouse-0.1.0/` has the output of that version, as SQL: a practice of two days, synced, reconciled and
built. There is a row in quarantine, an undeclared field, a superseded version, a restatement, received webhooks,
and a mart that no longer exists.
"""

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
import vetl_sandbox
from support import truth
from support.practice_site import practice_table
from support.sandbox_settings import credentials, settings_for, synced
from support.warehouse_with_rows import ask
from vetl import bundled
from vetl.cli import app
from vetl.endpoints import REGISTRY
from vetl.loading.control.snapshot import snapshot_path
from vetl.loading.warehouse import Warehouse

LEFT = Path(__file__).parents[1] / "support" / "warehouse-0.1.0"


def put_back(path: Path) -> None:
    """Create the file and the status beside it. Its views need the name `vetl.duckdb`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(path) as connection:
        connection.execute("set TimeZone = 'UTC'")
        connection.execute(gzip.decompress((LEFT / "warehouse.sql.gz").read_bytes()).decode())
    shutil.copy(LEFT / "status.json", snapshot_path(path))


def rows(path: Path, relation: str, columns: str = "*") -> list[tuple[object, ...]]:
    return ask(path, f"select {columns} from {relation} order by all")


WAREHOUSE = Path("warehouse/data/vetl.duckdb")
HARBOR = {"name": "Harbor Animal Hospital", "time_zone": "America/New_York", "more": "group = 'East'\n"}
SETTINGS = '[partner]\nbase_url = "http://127.0.0.1:9"\n' + practice_table("loc-001", start="2026-01-14", **HARBOR)
KEPT = (*(f"raw.{item.table}" for item in REGISTRY), "raw.outreach_events", "raw.service_reminder_events")


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The settings file, at the place of an operator's `vetl.toml`."""
    folder = tmp_path_factory.mktemp("vetl")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("VETL_")]:
            patch.delenv(name)
        patch.chdir(folder)
        Path("vetl.toml").write_text(SETTINGS, "utf-8")
        yield folder


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    capsys.readouterr()
    code = app.execute([*arguments, "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out), err


def columns_of(relation: str) -> str:
    """Return the columns of 0.1.0 that the source fills. A field that was declared later moves out of `_extra`."""
    names = [name for name, *_ in ask(WAREHOUSE, f"describe {relation}")]
    return ", ".join(f'"{name}"' for name in names if not name.startswith("_"))


def test_a_warehouse_of_0_1_0_is_migrated_and_built(capsys: pytest.CaptureFixture[str]) -> None:
    put_back(WAREHOUSE)
    compared = {table: columns_of(table) for table in (*KEPT, "history.ai_outbound_requests", "control.windows")}
    before = {table: rows(WAREHOUSE, table, columns) for table, columns in compared.items()}
    assert all(before.values())
    assert run_json(capsys, "status")[1]["summary"].endswith("the last sync was made by an older vetl")

    code, built, err = run_json(capsys, "build")

    assert code == 0
    assert "left out" not in err
    assert {table: rows(WAREHOUSE, table, columns) for table, columns in compared.items()} == before
    applied = [name for (name,) in rows(WAREHOUSE, "control.migrations", "name")]
    assert applied == sorted(file.stem for file in bundled.migrations().glob("*.sql"))
    published = Path("warehouse/data/analytics.duckdb")
    assert rows(published, "marts.phone_calls", "count(*)") == [(len(before["raw.phone_calls"]),)]
    assert "booking_intent_restatements" not in built["published"]["tables"]

    code, status, _ = run_json(capsys, "status")
    assert code == 1
    assert [problem["line"].split(";")[0] for problem in status["problems"]] == [
        "no list was read for longer than the 4h allowed by [schedule] max_age"
    ]
    assert "7 certified, 1 row quarantined; last sync" in status["summary"]


def test_a_sync_continues_that_of_0_1_0(tmp_path: Path) -> None:
    """The old rows are those of an older sandbox; every row of this one comes beside them."""
    path = tmp_path / "vetl.duckdb"
    put_back(path)
    lists = {name: table for name, table in truth.LISTS.items() if name not in ("clients", "patients")}
    old = {row for table in lists.values() for row in rows(path, f"raw.{table}", "id")}
    with vetl_sandbox.running(practices=1, days=2, calls=20, frozen=True) as platform:
        platform.advance(timedelta(days=1, minutes=30))
        settings = settings_for(platform, tmp_path, days=5)

        result = synced(settings, reconcile="full")

        states = {item.endpoint: item.state for item in result.results}
        del states["staff_tasks"]  # the older sandbox has later versions of the same tasks
        assert set(states.values()) == {"certified"}
        new = set[tuple[object, ...]]()
        for name, table in lists.items():
            there = {(row["id"],) for row in platform.truth("loc-001", name)}
            new |= there - old
            assert there <= set(rows(path, f"raw.{table}", "id"))
        assert new
        calls = len(platform.truth("loc-001", "phone_calls"))
        assert rows(path, "raw.phone_calls", "count(*) filter (where _deleted_at is null)") == [(calls,)]


COMMANDS = (
    *("status", "sync", "reconcile", "build", "run", "publish", "doctor", "dbt ls", "dagster asset list"),
    *("quarantine list", "quarantine retry", "webhooks drain"),
    "forget --practice loc-001 --client 1 --yes",
    "query --private from.raw.clients",
)


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Provide a warehouse that a later version has migrated, and a platform that answers."""
    with (
        pytest.MonkeyPatch.context() as patch,
        vetl_sandbox.running(practices=1, days=1, calls=5, frozen=True) as platform,
    ):
        patch.chdir(tmp_path_factory.mktemp("newer"))
        _make_newer()
        Path("vetl.toml").write_text(SETTINGS.replace("http://127.0.0.1:9", platform.base_url), "utf-8")
        for name, value in credentials(platform).items():
            patch.setenv(name, value)
        yield


def _make_newer() -> None:
    with Warehouse.open(WAREHOUSE, REGISTRY, lock_wait_seconds=0) as warehouse:
        warehouse.start_run("run", datetime.now(UTC), "sync")
        warehouse.finish_run("run", source_clock=None, exit_code=0, summary={})
    with duckdb.connect(WAREHOUSE) as connection:
        connection.execute("insert into control.migrations values ('9999_later', now())")
    snapshot = snapshot_path(WAREHOUSE)
    snapshot.write_text(json.dumps({**json.loads(snapshot.read_text("utf-8")), "migration": "9999_later"}))


@pytest.mark.usefixtures("newer")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_newer_warehouse_is_refused_in_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute([word.replace(".", " ", 1) for word in command.split()]) == 1

    out, err = capsys.readouterr()
    assert out == ""
    *waited, refusal = err.splitlines()
    assert all(line.startswith("examining") for line in waited), "what a slow machine waits for"
    assert "the warehouse is newer than this vetl (it has 9999_later): upgrade vetl" in refusal
