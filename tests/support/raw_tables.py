"""A private warehouse as `sync` leaves it: the tables that dbt reads, filled with given rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from pipelines.endpoints import REGISTRY

Tables = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by table name, `raw.phone_calls` for one; a column that a row lacks is null."""

_CONTROL = """
    create table control.practices (
        id varchar, name varchar, time_zone varchar, history_start date, group_name varchar
    );
    create table control.runs (
        run_id varchar, started_at timestamptz, finished_at timestamptz, source_clock timestamptz
    );
"""


def create_warehouse(path: Path, tables: Tables) -> Path:
    """Make the file with the raw and control tables that dbt reads, and fill them.

    Raises:
        duckdb.Error: a row has a column that its table has not.
    """
    with duckdb.connect(path) as connection:
        connection.execute("set timezone = 'UTC'; create schema raw; create schema control")
        connection.execute(_CONTROL)
        for endpoint in REGISTRY:
            columns = ", ".join(f"{column.name} {column.kind.value}" for column in endpoint.columns())
            connection.execute(
                f"create table raw.{endpoint.table} (practice_id varchar, {columns}, _loaded_at timestamptz,"
                " _run_id varchar, _row_hash varchar, _deleted_at timestamptz, _extra json)"
            )
        for table, rows in tables.items():
            _insert(connection, table, rows)
    return path


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    frame = pl.DataFrame(rows, infer_schema_length=None)
    connection.register("new_rows", frame.to_arrow())
    connection.execute(f"insert into {table} by name select * from new_rows")
    connection.unregister("new_rows")
