"""Apply forward-only migrations, `warehouse/migrations/NNNN_name.sql`, each once."""

from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError
from vetl.store.connection import quoted

FIRST = "0001_control"
"""The migration that creates a new file."""


def migrate(connection: duckdb.DuckDBPyConnection, folder: Path) -> tuple[str, ...]:
    """Apply missing migrations, each in a transaction of its own, and return their names."""
    migrations = {file.stem: file for file in sorted(folder.glob("[0-9]*.sql"))}
    if not migrations:
        raise WarehouseError(f"{folder}: there are no migrations here; is vetl installed whole?")
    applied = _applied(connection)
    _refuse_newer(applied - migrations.keys())
    missing = tuple(name for name in migrations if name not in applied)
    for name in missing:
        _apply(connection, name, migrations[name].read_text("utf-8"))
    return missing


def refuse_newer(connection: duckdb.DuckDBPyConnection, database: str | None, folder: Path) -> None:
    """Check an attached file that is only read and not migrated."""
    _refuse_newer(_applied(connection, database) - {file.stem for file in folder.glob("[0-9]*.sql")})


def _refuse_newer(unknown: set[str]) -> None:
    if unknown:
        raise WarehouseError(f"the warehouse is newer than this vetl (it has {max(unknown)}): upgrade vetl")


def _applied(connection: duckdb.DuckDBPyConnection, database: str | None = None) -> set[str]:
    """Return the migrations of an attached file, or of the open file."""
    tables = connection.execute(
        "select database_name from duckdb_tables() where database_name = coalesce($database, current_database())"
        " and schema_name = 'control' and table_name = 'migrations'",
        {"database": database},
    ).fetchall()
    if not tables:
        return set()
    [(catalog,)] = tables
    return {
        name for (name,) in connection.execute(f"select name from {quoted(catalog)}.control.migrations").fetchall()
    }


def _apply(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    connection.begin()
    try:
        connection.execute(sql)
        connection.execute(
            "create table if not exists control.migrations"
            " (name varchar not null, applied_at timestamptz not null)"
        )
        connection.execute("insert into control.migrations values (?, now())", [name])
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
