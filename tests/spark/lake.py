"""A private warehouse's tables as Parquet, as a Spark build reads them: `<lake>/<schema>/<table>/rows.parquet`."""

from pathlib import Path

import duckdb

_SCHEMAS = ("raw", "history", "control")


def export(warehouse: Path, lake: Path) -> int:
    """Write every table that models may read, and return how many there are.

    JSON becomes text, which is what Spark's functions of JSON take; all else keeps its type.
    """
    with duckdb.connect(warehouse, read_only=True) as connection:
        tables = connection.execute(
            "select schema_name, table_name from duckdb_tables() where schema_name in $schemas",
            {"schemas": _SCHEMAS},
        ).fetchall()
        for schema, table in tables:
            folder = lake / schema / table
            folder.mkdir(parents=True)
            columns = connection.execute(
                "select column_name, data_type from duckdb_columns()"
                " where schema_name = $schema and table_name = $table",
                {"schema": schema, "table": table},
            ).fetchall()
            texts = ", ".join(f'"{name}"::varchar as "{name}"' for name, kind in columns if kind == "JSON")
            replaced = f"* replace ({texts})" if texts else "*"
            connection.execute(
                f"copy (select {replaced} from {schema}.{table}) to '{folder}/rows.parquet' (format parquet)"
            )
    return len(tables)
