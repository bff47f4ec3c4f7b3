"""One SQL statement on a file that is opened for reading only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import duckdb

from pipelines.errors import WarehouseBusy, WarehouseError, WrongUse


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a statement, as Python values."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def query(file: Path, sql: str) -> Answer:
    """Run a statement and fetch all its rows; instants come in UTC.

    Raises:
        WrongUse: the statement is not SQL that this file can answer.
        WarehouseBusy: another process holds the file.
        WarehouseError: the file is missing or is no warehouse.
    """
    with _opened(file) as connection:
        try:
            relation = _relation(connection, sql)
            return Answer(tuple(relation.columns), relation.fetchall())
        except duckdb.Error as error:
            raise WrongUse(_first_line(error)) from None


def query_to_parquet(file: Path, sql: str, target: Path) -> None:
    """Run a statement and write its rows to a Parquet file.

    Raises:
        The same as `query`.
    """
    with _opened(file) as connection:
        try:
            _relation(connection, sql).write_parquet(str(target))
        except duckdb.Error as error:
            raise WrongUse(_first_line(error)) from None


def _opened(file: Path) -> duckdb.DuckDBPyConnection:
    if not file.exists():
        raise WarehouseError(f"{file}: there is no such file yet; `vetl run` makes it")
    try:
        connection = duckdb.connect(str(file), read_only=True)
    except duckdb.IOException as error:
        if "Could not set lock" in str(error):
            raise WarehouseBusy(f"{file}: another process writes to it; try again when it is done") from None
        raise WarehouseError(f"{file}: {_first_line(error)}") from None
    connection.execute("set TimeZone = 'UTC'")
    return connection


def _relation(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
    # The stubs do not tell that a statement without rows gives None.
    relation = cast("duckdb.DuckDBPyRelation | None", connection.sql(sql))
    if relation is None:
        raise WrongUse("the statement has no rows to show")
    return relation


def _first_line(error: duckdb.Error) -> str:
    return str(error).strip().splitlines()[0]
