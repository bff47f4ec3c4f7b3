"""Builds of the shipped models alone, and what two warehouses' models differ in."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

from pipelines.bundled import dbt_project
from pipelines.dbt_process import environment


def build_models(warehouse: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`dbt build` as vetl runs it, without tests: what is asked here is what the models hold."""
    folder, scratch = str(dbt_project()), warehouse.parent
    return subprocess.run(
        [
            *(sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--no-use-colors", "build"),
            *("--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"),
            *("--project-dir", folder, "--profiles-dir", folder),
            *("--target-path", str(scratch / "target"), "--log-path", str(scratch / "logs")),
            *options,
        ],
        env={**os.environ, **environment(warehouse), **variables},
        cwd=scratch,
        capture_output=True,
        text=True,
        check=False,
    )


def was_full(warehouse: Path) -> bool:
    """Whether the last build was one in full."""
    with duckdb.connect(warehouse, read_only=True) as connection:
        [(is_full,)] = connection.execute("select is_full from control.builds").fetchall()
    return is_full


def differences_from_full_build(warehouse: Path) -> dict[str, tuple[int, int]]:
    """By table: how many rows a build in full would not have, and how many it would have besides."""
    held, full = warehouse.with_name("held.duckdb"), warehouse.with_name("full.duckdb")
    shutil.copy(warehouse, held)
    done = build_models(warehouse, "--full-refresh")  # under the same name: dbt parses anew for another
    assert done.returncode == 0, done.stdout
    warehouse.replace(full)
    held.replace(warehouse)
    with duckdb.connect() as connection:
        connection.execute(f"attach '{warehouse}' as here (read_only); attach '{full}' as there (read_only)")
        tables = connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables()"
            " where database_name = 'there' and schema_name in ('intermediate', 'marts')"
        ).fetchall()
        found = {name: _unlike(connection, name) for (name,) in tables}
    return {name: unlike for name, unlike in found.items() if unlike != (0, 0)}


def _unlike(connection: duckdb.DuckDBPyConnection, table: str) -> tuple[int, int]:
    [counts] = connection.execute(
        f"select (select count(*) from (from here.{table} except all from there.{table})),"
        f" (select count(*) from (from there.{table} except all from here.{table}))"
    ).fetchall()
    return counts
