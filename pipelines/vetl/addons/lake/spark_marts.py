"""Make a DuckDB file of views over marts in Parquet files, so that they are published like marts of DuckDB."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from vetl.core.published_file import SCHEMAS
from vetl.store.connection import as_vetl_errors, literal, quoted


def write_views(file: Path, tables: Path, manifest: Path) -> None:
    """Make a file with a view for each `<tables>/<schema>.db/<mart>/*.parquet`, described by dbt's manifest."""
    file.unlink(missing_ok=True)
    nodes = json.loads(manifest.read_text("utf-8"))["nodes"].values()
    marts = [node for node in nodes if node["resource_type"] == "model" and node["schema"] in SCHEMAS]
    with as_vetl_errors(file), closing(duckdb.connect(file)) as connection:
        for schema in SCHEMAS:
            connection.execute(f"create schema {schema}")
        for mart in marts:
            _write_mart(connection, mart, tables / f"{mart['schema']}.db" / mart["name"])


def _write_mart(connection: duckdb.DuckDBPyConnection, mart: dict[str, Any], folder: Path) -> None:
    name = f"{mart['schema']}.{quoted(mart['name'])}"
    files = literal(f"{folder}/*.parquet")
    connection.execute(f"create view {name} as from read_parquet({files}, hive_partitioning = false)")
    connection.execute(f"comment on view {name} is {literal(mart['description'])}")
    for column in mart["columns"].values():
        connection.execute(
            f"comment on column {name}.{quoted(column['name'])} is {literal(column['description'])}"
        )
