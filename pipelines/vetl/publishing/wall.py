"""Keep a reader to some practices: the one rule of who sees which rows, for views and for files."""

from collections.abc import Collection
from secrets import token_hex

import duckdb

from vetl.store.connection import literal, quoted

OF_NO_PRACTICE = frozenset({"catalogue", "metrics"})
"""Tables about definitions alone, which every reader sees; any other table without a practice is left out."""


def rows_of(table: str, practices: Collection[str], *, has_practice: bool) -> str | None:
    """Return the condition for the rows of a table that a reader of these practices sees; `None` for no table."""
    if not has_practice:
        return "true" if table in OF_NO_PRACTICE else None
    return f"practice_id in ({', '.join(map(literal, practices)) or 'null'})"


def tables_of(connection: duckdb.DuckDBPyConnection, file: str, schema: str) -> dict[str, bool]:
    """Return the tables of an attached file, and whether each has a practice."""
    rows = connection.execute(
        "select table_name, bool_or(column_name = 'practice_id') from duckdb_columns()"
        " where database_name = $file and schema_name = $schema group by table_name order by table_name",
        {"file": file, "schema": schema},
    ).fetchall()
    return dict(rows)


def attach_hidden(connection: duckdb.DuckDBPyConnection, path: str) -> str:
    """Attach a file under a name that nobody can guess, so that no statement reads past the views; return it.

    Raises:
        duckdb.Error: the file cannot be attached.
    """
    name = f"file_{token_hex(16)}"
    connection.execute(f"attach {literal(path)} as {name} (read_only)")
    return name


def show(
    connection: duckdb.DuckDBPyConnection, file: str, source: str, schema: str, practices: Collection[str]
) -> None:
    """Make a schema of views over the tables of an attached file, with the rows of these practices alone."""
    connection.execute(f"create schema {schema}")
    for table, has_practice in tables_of(connection, file, source).items():
        rows = rows_of(table, practices, has_practice=has_practice)
        if rows:
            connection.execute(
                f"create view {schema}.{quoted(table)} as from {file}.{source}.{quoted(table)} where {rows}"
            )
