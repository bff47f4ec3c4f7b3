"""A file gets the migrations that it lacks, each as a whole, and keeps its rows."""

import shutil
from pathlib import Path

import duckdb
import pytest
from support.warehouse_with_rows import Filled, ask
from vetl import bundled
from vetl.core.errors import WarehouseError
from vetl.endpoints import REGISTRY
from vetl.store.notes import read_snapshot, refuse_newer
from vetl.store.warehouse import Warehouse

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
        assert read_snapshot(filled.path), "the status is that of the version that migrated the file"

    applied = ask(filled.path, "select name from control.migrations order by applied_at")
    assert applied == [*((file.stem,) for file in sorted(own.glob("*.sql"))), (LATER,)]
    assert ask(filled.path, "select id from raw.staff_tasks") == [("t",)]
    assert ask(filled.path, "select distinct colour from control.practices") == [("red",)]
    with pytest.raises(WarehouseError, match=f"newer than this vetl .it has {LATER}.: upgrade vetl"):
        refuse_newer(filled.path)


def test_a_migration_that_fails_changes_nothing(
    filled: Filled, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.warehouse.close()
    (next_version / f"{LATER}.sql").write_text("create table control.half (a int); select * from control.nowhere;")
    monkeypatch.setattr(bundled, "migrations", lambda: next_version)

    with pytest.raises(duckdb.CatalogException):
        Warehouse.open(filled.path, REGISTRY, lock_wait_seconds=0)

    assert ask(filled.path, "from duckdb_tables() where table_name = 'half'") == []
    assert ask(filled.path, f"from control.migrations where name = '{LATER}'") == []
