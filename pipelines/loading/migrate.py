"""Forward-only migrations: `warehouse/migrations/NNNN_name.sql`, each applied once and recorded."""

from pathlib import Path

import duckdb

from pipelines.core.errors import WarehouseError


def migrate(connection: duckdb.DuckDBPyConnection, folder: Path) -> tuple[str, ...]:
    """Apply what is missing, each migration in a transaction of its own. Returns the names applied.

    Raises:
        WarehouseError: the file knows a migration that this vetl does not.
    """
    migrations = {file.stem: file for file in sorted(folder.glob("[0-9]*.sql"))}
    if not migrations:
        raise WarehouseError(f"{folder}: there are no migrations here; is vetl installed whole?")
    applied = _applied(connection)
    newer = sorted(applied - migrations.keys())
    if newer:
        raise WarehouseError(f"the warehouse is newer than this vetl (it has {newer[-1]}): upgrade vetl")
    missing = tuple(name for name in migrations if name not in applied)
    for name in missing:
        _apply(connection, name, migrations[name].read_text("utf-8"))
    return missing


def _applied(connection: duckdb.DuckDBPyConnection) -> set[str]:
    exists = connection.execute(
        "select count(*) from duckdb_tables() where database_name = current_database()"
        " and schema_name = 'control' and table_name = 'migrations'"
    ).fetchall()
    if exists == [(0,)]:
        return set()
    return {name for (name,) in connection.execute("select name from control.migrations").fetchall()}


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
