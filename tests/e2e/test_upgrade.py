"""A warehouse gets the migrations that it lacks; every command refuses one that a newer vetl has migrated."""

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
import vetl_sandbox
from support.practice_site import practice_table
from support.sandbox_settings import credentials
from support.warehouse_with_rows import Filled, ask
from vetl import bundled
from vetl.cli import app
from vetl.core.errors import WarehouseError
from vetl.endpoints import REGISTRY
from vetl.loading.control.snapshot import read_snapshot, refuse_newer
from vetl.loading.notes import read_note, write_note
from vetl.loading.warehouse import Warehouse

WAREHOUSE = Path("warehouse/data/vetl.duckdb")
HARBOR = {"name": "Harbor Animal Hospital", "time_zone": "America/New_York", "more": "group = 'East'\n"}
SETTINGS = '[partner]\nbase_url = "http://127.0.0.1:9"\n' + practice_table("loc-001", start="2026-01-14", **HARBOR)
LATER = "0002_colours"


@pytest.fixture
def next_version(tmp_path: Path) -> Path:
    """Return the migrations of the next version, which has one more."""
    folder = tmp_path / "migrations"
    shutil.copytree(bundled.migrations(), folder)
    (folder / f"{LATER}.sql").write_text("alter table control.practices add column colour varchar default 'red';")
    return folder


def test_a_file_gets_the_migrations_that_it_lacks_and_keeps_its_rows(
    filled: Filled, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.merge("staff_tasks", {"id": "t"})
    filled.warehouse.close()
    own = bundled.migrations()

    with monkeypatch.context() as patch:
        patch.setattr(bundled, "migrations", lambda: next_version)
        Warehouse.open(filled.path, REGISTRY, lock_wait_seconds=0).close()
        Warehouse.open(filled.path, REGISTRY, lock_wait_seconds=0).close()

    applied = ask(filled.path, "select name from control.migrations order by applied_at")
    assert applied == [*((file.stem,) for file in sorted(own.glob("*.sql"))), (LATER,)]
    assert ask(filled.path, "select id from raw.staff_tasks") == [("t",)]
    assert ask(filled.path, "select distinct colour from control.practices") == [("red",)]
    assert read_snapshot(filled.path, next_version), "the status is that of the version that migrated the file"
    with pytest.raises(WarehouseError, match=f"newer than this vetl .it has {LATER}.: upgrade vetl"):
        refuse_newer(filled.path, own)


def test_a_migration_that_fails_changes_nothing(
    filled: Filled, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.warehouse.close()
    (next_version / f"{LATER}.sql").write_text("create table control.half (a int); select * from control.nowhere;")
    monkeypatch.setattr(bundled, "migrations", lambda: next_version)

    with pytest.raises(WarehouseError):
        Warehouse.open(filled.path, REGISTRY, lock_wait_seconds=0)

    assert ask(filled.path, "from duckdb_tables() where table_name = 'half'") == []
    assert ask(filled.path, f"from control.migrations where name = '{LATER}'") == []


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
        for name in [name for name in os.environ if name.startswith("VETL_")]:
            patch.delenv(name)
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
    write_note(WAREHOUSE, "status", {**read_note(WAREHOUSE, "status"), "migration": "9999_later"})


@pytest.mark.usefixtures("newer")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_newer_warehouse_is_refused_in_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute([word.replace(".", " ", 1) for word in command.split()]) == 1

    out, err = capsys.readouterr()
    assert out == ""
    *waited, refusal = err.splitlines()
    assert all(line.startswith("examining") for line in waited), "what a slow machine waits for"
    assert "the warehouse is newer than this vetl (it has 9999_later): upgrade vetl" in refusal
