"""The private file: one writer, found busy for a while or for good, and DuckDB's failures in one line."""

import re
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import duckdb
import structlog

from pipelines.core.errors import NotStorable, WarehouseBusy, WarehouseError
from pipelines.loading.layout import shards_of

ROW_GROUP_SIZE = 30_720
"""Rows per row group. Every commit rewrites the last, partly filled one of each column: with DuckDB's own
122,880 a first sync in batches of 50,000 rows costs half as much again. Smaller groups also let a read of a
few days skip more."""

PRIVATE = ("raw", "history", "control")
"""The schemas that syncs write to; all others follow from them."""

MEMORY_LIMIT = 1_000_000_000
"""Bytes of DuckDB's buffers beside its indexes; what does not fit is spilled beside the file."""

MEMORY_KEPT = 1_000_000
"""Bytes that DuckDB keeps between batches of rows, beside its indexes: by itself it frees nothing before its limit
is reached. With ten million calls a sync took 917 MiB in place of 451, for the same CPU."""

MEMORY_A_KEY = 160
"""Bytes for each row of a table with an index. A batch of new keys needs all of it in memory: 48 to 118 a key were
measured, by its length, and what a transaction changes is held beside it."""

LOOKED_UP_AT_MOST = 2_000
"""Keys of a batch that DuckDB looks up in an index; with more it reads the whole column, which then is cheaper.
Its own bound of 50 is less than one page of a list."""

_LOOK_AGAIN_SECONDS = 0.25
_WAITS_UNTOLD = 4 * _LOOK_AGAIN_SECONDS
"""A command that is silent for longer looks dead."""
_HELD = ("Could not set lock", "Unique file handle conflict")
_NOT_WRITTEN = "Could not write"
CAUSE_OF_THE_MACHINE = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.FatalException,
    duckdb.TransactionException,
)

Opened = TypeVar("Opened")

_log = structlog.stdlib.get_logger("vetl.loading")


def attach(
    path: Path, *, lock_wait_seconds: float, wait: Callable[[float], None] = time.sleep
) -> duckdb.DuckDBPyConnection:
    """Open the file for writing, make it and its folder where they are missing, and use it.

    Another process that holds it is waited for, `lock_wait_seconds` at most.

    Raises:
        WarehouseBusy: it is still held after that.
        WarehouseError: it cannot be made or opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WarehouseError(f"{path}: its folder cannot be made: {error.strerror}") from None
    return waiting(path, lambda: _attach(path), lock_wait_seconds=lock_wait_seconds, wait=wait)


def waiting(
    path: Path,
    opened: Callable[[], Opened],
    *,
    lock_wait_seconds: float,
    wait: Callable[[float], None] = time.sleep,
) -> Opened:
    """What opens a file returns, once no other process holds that file against it.

    Raises:
        WarehouseBusy: it is still held after `lock_wait_seconds`.
        WarehouseError: it cannot be opened.
    """
    waited = 0.0
    while True:
        try:
            return opened()
        except duckdb.Error as error:
            if not any(sign in str(error) for sign in _HELD):
                raise WarehouseError(f"{path}: cannot be opened: {first_line(error)}") from None
            if waited >= lock_wait_seconds:
                raise WarehouseBusy(_busy(path, str(error), lock_wait_seconds)) from None
            if waited == _WAITS_UNTOLD:
                _log.warning("warehouse_held", path=str(path), by=_holder(str(error)), seconds=lock_wait_seconds)
        pause = min(_LOOK_AGAIN_SECONDS, lock_wait_seconds - waited)
        wait(pause)
        waited += pause


def _attach(path: Path) -> duckdb.DuckDBPyConnection:
    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": f"{path}.tmp",
        "dynamic_or_filter_threshold": LOOKED_UP_AT_MOST,
        # Row groups go to the disk one by one, not five at a time: 25 MiB less of a first sync's 380.
        "write_buffer_row_group_count": 1,
    }
    connection = duckdb.connect(config=config)
    try:
        connection.execute(f"attach {literal(str(path))} as warehouse (row_group_size {ROW_GROUP_SIZE})")
        connection.execute("use warehouse")
        limit_memory(connection)
        connection.execute("set TimeZone = 'UTC'")
        # Of a statement of two seconds it would be written to standard output, between the lines of `--json`.
        connection.execute("set enable_progress_bar = false")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def limit_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """Free what DuckDB keeps, and bound it: `MEMORY_LIMIT`, and the indexes of all files that are open.

    DuckDB refuses a limit that is less than what it holds, and frees what it can before.
    """
    [(keys,)] = connection.execute(
        "select coalesce(sum(estimated_size), 0)::bigint from duckdb_tables() where index_count > 0"
    ).fetchall()
    indexes = MEMORY_A_KEY * keys
    with suppress(duckdb.OutOfMemoryException):
        connection.execute(f"set memory_limit = '{MEMORY_KEPT + indexes}B'")
    connection.execute(f"set memory_limit = '{MEMORY_LIMIT + indexes}B'")


def _busy(path: Path, message: str, waited: float) -> str:
    return f"{path}: {_holder(message)} holds it, after {waited:g} s of waiting; try again when it is done"


def _holder(message: str) -> str:
    pid = re.search(r"PID (\d+)", message)
    return f"process {pid[1]}" if pid else "another connection"


@contextmanager
def told_in_one_line(path: Path) -> Generator[None]:
    """Turn the machine's failures (full disk, no memory) into a WarehouseError.

    DuckDB quotes values in its messages about data, which may be personal: of those only the kind is told.
    """
    try:
        yield
    except CAUSE_OF_THE_MACHINE as error:
        line = first_line(error)
        remedy = "; make room and run it again, what was committed is kept" if _NOT_WRITTEN in line else ""
        raise WarehouseError(f"{path}: {line}{remedy}") from None
    except duckdb.DataError as error:
        raise NotStorable(f"{path}: DuckDB refuses a value ({type(error).__name__})") from None


def attach_shards(connection: duckdb.DuckDBPyConnection, path: Path, *, lock_wait_seconds: float = 0.0) -> None:
    """Make the shards of an open file known to its connection, read-only, for the views in it.

    Raises:
        WarehouseBusy: another process writes to one, and went on for `lock_wait_seconds`.
        WarehouseError: one cannot be opened.
    """
    for name, file in shards_of(path).items():
        statement = f"attach {literal(str(file))} as {quoted(name)} (read_only)"
        waiting(file, partial(connection.execute, statement), lock_wait_seconds=lock_wait_seconds)


def drop_derived(connection: duckdb.DuckDBPyConnection, database: str) -> None:
    """Take what dbt has made out of an attached file."""
    schemas = connection.execute(
        "select schema_name from duckdb_schemas() where database_name = ? and not internal", [database]
    ).fetchall()
    for (schema,) in schemas:
        if schema not in (*PRIVATE, "main"):
            connection.execute(f"drop schema {quoted(database)}.{quoted(schema)} cascade")


def first_line(error: Exception) -> str:
    """The first line of a message, without the kind that DuckDB puts before it."""
    lines = str(error).strip().splitlines()
    return lines[0].split(" Error: ", 1)[-1] if lines else type(error).__name__


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def same(one: str, other: str, column: str) -> str:
    """SQL for rows of two names that agree in a column, which is never null, without a look into it beforehand.

    An equation would be searched for in the whole table, and so keep DuckDB from looking the key beside it up in
    an index: 55 ms in place of 4 for a million rows of 50 practices.
    """
    return f"not ({one}.{quoted(column)} <> {other}.{quoted(column)})"


def same_key(one: str, other: str, key: Iterable[str]) -> str:
    """SQL for rows of two names that have the same key, of the same practice."""
    return f"{equal(one, other, key)} and {same(one, other, 'practice_id')}"


def equal(one: str, other: str, columns: Iterable[str]) -> str:
    """SQL for rows of two names that agree in these columns."""
    return " and ".join(f"{one}.{quoted(name)} = {other}.{quoted(name)}" for name in columns)


def literal(text: str) -> str:
    """A text as an SQL literal, for statements that take no parameters."""
    return "'" + text.replace("'", "''") + "'"
