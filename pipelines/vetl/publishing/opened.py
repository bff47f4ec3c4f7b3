"""Open a published file for reading: no other file, no setting, no extension.

Keep a reader to some practices: the one rule of who sees which rows, for views and for files.
"""

from collections.abc import Collection, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

import duckdb

from vetl.core.errors import WarehouseError
from vetl.core.published_file import SCHEMAS
from vetl.publishing.contacts import attach_contacts
from vetl.store.connection import MEMORY_LIMIT, Connection, among, as_warehouse_error, literal, quoted
from vetl.store.tables import columns_in

OF_NO_PRACTICE = frozenset({"catalogue", "metrics"})
"""Tables about definitions alone, which every reader sees; any other table without a practice is left out."""


def rows_of(table: str, practices: Collection[str], *, has_practice: bool) -> str | None:
    """Return the condition for the rows of a table that a reader of these practices sees; `None` for no table."""
    if not has_practice:
        return "true" if table in OF_NO_PRACTICE else None
    return among("practice_id", practices)


def attach_hidden(connection: Connection, path: str) -> str:
    """Attach a file under a name that nobody can guess, so that no statement reads past the views; return it."""
    name = f"file_{token_hex(16)}"
    connection.execute(f"attach {literal(path)} as {name} (read_only)")
    return name


def show(connection: Connection, file: str, source: str, schema: str, practices: Collection[str]) -> None:
    """Make a schema of views over the tables of an attached file, with the rows of these practices alone."""
    connection.execute(f"create schema {schema}")
    for (_, table), columns in columns_in(connection, [source], file).items():
        rows = rows_of(table, practices, has_practice="practice_id" in columns)
        if rows:
            connection.execute(
                f"create view {schema}.{quoted(table)} as from {file}.{source}.{quoted(table)} where {rows}"
            )


@contextmanager
def opened(file: Path, writes_to: Path | None) -> Generator[Connection]:
    """Open one file for reading, with its contacts if they are beside it."""
    with _connected(file, str(file), read_only=True) as connection:
        there = connection.execute(
            "select distinct schema_name from duckdb_schemas() where schema_name in $schemas order by all",
            {"schemas": SCHEMAS},
        ).fetchall()
        connection.execute(f"set search_path = {literal(','.join([name for (name,) in there] + ['main']))}")
        attach_contacts(connection, file)
        if writes_to:
            connection.execute(f"set allowed_directories = [{literal(str(writes_to))}]")
        _lock(connection)
        yield connection


@contextmanager
def opened_for(file: Path, practices: Collection[str]) -> Generator[Connection]:
    """Open a published file behind views of the same names, which have only the rows of these practices."""
    with _connected(file, ":memory:") as connection:
        try:
            hidden = attach_hidden(connection, str(file))
        except duckdb.Error as error:
            raise as_warehouse_error(error, file) from None
        for schema in SCHEMAS:
            show(connection, hidden, schema, schema, practices)
        _lock(connection)
        yield connection


@contextmanager
def _connected(file: Path, database: str, *, read_only: bool = False) -> Generator[Connection]:
    """Connect to a database; DuckDB spills to a temporary folder, which is removed afterwards."""
    if not file.exists():
        raise WarehouseError(f"{file}: there is no such file yet; `vetl run` makes it")
    with TemporaryDirectory(prefix="vetl-query-") as spilled:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{MEMORY_LIMIT}B",
            "temp_directory": spilled,
        }
        try:
            connection = duckdb.connect(database, read_only=read_only, config=config)
        except duckdb.Error as error:
            raise as_warehouse_error(error, file) from None
        with closing(connection):
            connection.execute("set TimeZone = 'UTC'")
            connection.execute("set arrow_lossless_conversion = true")
            yield connection


def _lock(connection: Connection) -> None:
    """Forbid every other file and any change of the settings."""
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
