"""Warehouses that cannot be opened: locked by another process, no database, or of a later vetl."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.warehouse_with_rows import Filled

from pipelines.core.errors import WarehouseBusy, WarehouseError
from pipelines.endpoints import REGISTRY
from pipelines.loading.warehouse import Warehouse


def opened(path: Path, seconds: float = 0, **options: Any) -> Warehouse:
    return Warehouse.open(path, REGISTRY, lock_wait_seconds=seconds, **options)


def test_file_and_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "vetl.duckdb"
    opened(path).close()

    assert path.is_file()
    with duckdb.connect(str(path), read_only=True) as connection:
        schemas = {
            name for (name,) in connection.execute("select distinct schema_name from duckdb_tables()").fetchall()
        }
    assert schemas == {"raw", "history", "control"}


def hold(path: Path) -> subprocess.Popen[str]:
    """Run another process that has the file open until its input ends."""
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_a_file_that_stays_held_is_busy_and_its_holder_named(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    waits: list[float] = []
    holder = hold(path)
    try:
        with pytest.raises(
            WarehouseBusy, match=f"vetl.duckdb: process {holder.pid} holds it, after 0.6 seconds"
        ) as busy:
            opened(path, 0.6, wait=waits.append)
    finally:
        holder.communicate("")
    assert "\n" not in str(busy.value)
    assert sum(waits) == pytest.approx(0.6)


def test_a_file_that_is_let_go_in_time_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    holder = hold(path)

    def let_go(_: float) -> None:
        holder.communicate("")

    opened(path, 5, wait=let_go).close()

    assert holder.returncode == 0


def test_a_file_held_in_this_process_is_busy_too(filled: Filled) -> None:
    with pytest.raises(WarehouseBusy, match="another connection"):
        opened(filled.path)


@pytest.mark.parametrize("content", [b"no database at all " * 1000, b"x"])
def test_what_is_no_database_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vetl.duckdb"
    path.write_bytes(content)

    with pytest.raises(WarehouseError, match=r"vetl\.duckdb: cannot be opened: .*not a valid DuckDB") as error:
        opened(path)

    assert "\n" not in str(error.value)
    assert path.read_bytes() == content
    with pytest.raises(WarehouseError, match=r"its folder cannot be made: "):
        opened(path / "vetl.duckdb")
    with pytest.raises(WarehouseError, match="cannot be opened"):
        opened(tmp_path)


def test_a_file_from_a_later_vetl_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    opened(path).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("insert into control.migrations values ('9999_later', now())")

    with pytest.raises(WarehouseError, match="newer than this vetl"):
        opened(path)
