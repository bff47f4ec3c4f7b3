"""Open a published file for reading: no other file, no setting, no extension."""

from collections.abc import Collection, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from vetl.core.errors import WarehouseError
from vetl.core.published import SCHEMAS
from vetl.publishing.contacts import attach_contacts
from vetl.publishing.wall import attach_hidden, show
from vetl.store.connection import MEMORY_LIMIT, literal
from vetl.store.failures import as_warehouse_error


@contextmanager
def opened(file: Path, writes_to: Path | None) -> Generator[duckdb.DuckDBPyConnection]:
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
def opened_for(file: Path, practices: Collection[str]) -> Generator[duckdb.DuckDBPyConnection]:
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
def _connected(file: Path, database: str, *, read_only: bool = False) -> Generator[duckdb.DuckDBPyConnection]:
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


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Forbid every other file and any change of the settings."""
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
