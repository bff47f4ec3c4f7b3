"""Open the private file, wait for a process that holds it, and quote names in SQL.

Turn DuckDB's errors into vetl's: one line each, with the failure, the file and the remedy.
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import duckdb
import structlog

from vetl.core.errors import MAKE_ROOM, NotStorable, WarehouseBusy, WarehouseError, cannot_write
from vetl.core.text import span

Connection: TypeAlias = duckdb.DuckDBPyConnection

_OF_THE_STATEMENT = (
    duckdb.DataError,
    duckdb.IntegrityError,
    duckdb.NotSupportedError,
    duckdb.ProgrammingError,
    duckdb.DependencyException,
    duckdb.InterruptException,
    duckdb.PermissionException,
    duckdb.SequenceException,
)
"""DuckDB's errors if the SQL or a value is at fault. Every other error is a fault of the disk, the memory or the
file: DuckDB reports damaged bytes by errors of many classes, `duckdb.Error` itself among them."""

_HELD = ("Could not set lock", "Unique file handle conflict")
_AT_THE_END = "CHECKPOINT during DETACH"
"""If the end of a file cannot be written, DuckDB fails when it detaches the file, and does not give the reason."""

_NOT_WRITTEN = ("Could not write", "No space left", "File too large", "quota exceeded", _AT_THE_END)
_IN_ANOTHER_THREAD = re.compile(r'"exception_message":"((?:[^"\\]|\\.)*)"')
"""The message of an error of another thread, which DuckDB quotes as JSON in the error of the statement."""
_FILE = re.compile(r'on file "([^"]+)"')
_PID = re.compile(r"PID (\d+)")


@contextmanager
def as_vetl_errors(path: Path) -> Generator[None]:
    """Turn DuckDB's errors into vetl's, except errors that only a fault of vetl's SQL explains.

    Raise `NotStorable` if DuckDB refuses a value, or the rows are too large for its memory. The message about a
    value names only the kind of error; DuckDB's may quote it.
    """
    try:
        yield
    except duckdb.DataError as error:
        raise NotStorable(f"{path}: DuckDB refuses a value ({type(error).__name__})") from None
    except duckdb.OutOfMemoryException as error:
        raise NotStorable(f"{path}: {first_line(error)}") from None
    except duckdb.Error as error:
        if is_of_the_machine(error):
            raise as_warehouse_error(error, path) from None
        raise


def is_of_the_machine(error: duckdb.Error) -> bool:
    """Return whether the disk, the memory or the bytes of a file are at fault, and not the statement."""
    return not isinstance(error, _OF_THE_STATEMENT)


def as_warehouse_error(error: duckdb.Error, path: Path, failed: str = "") -> WarehouseError:
    """Return vetl's error for one of DuckDB's; `failed` names the failure, such as "cannot be opened".

    DuckDB's messages about data quote values, which may be personal: for such an error only its kind is named.
    """
    if busy := busy_in(str(error), path):
        return busy
    about = f"{path}: {failed}: " if failed else f"{path}: "
    if isinstance(error, duckdb.DataError):
        return WarehouseError(f"{about}DuckDB refuses a value ({type(error).__name__})")
    line = "its end cannot be written" if _AT_THE_END in str(error) else first_line(error)
    return WarehouseError(f"{about}{line}{remedy_in(str(error), is_kept=not failed)}")


def remedy_in(message: str, *, is_kept: bool = False) -> str:
    """Return the remedy if a message of DuckDB or of the system says that a file could not be written.

    `is_kept`: earlier commits are in that file.
    """
    if not any(sign in message for sign in _NOT_WRITTEN):
        return ""
    return f"{MAKE_ROOM}, what was committed is kept" if is_kept else MAKE_ROOM


def busy_in(message: str, path: Path) -> WarehouseBusy | None:
    """Return the error for a file that another process holds, if DuckDB's message says so.

    The message names the file; `path` is used if it does not.
    """
    if not any(sign in message for sign in _HELD):
        return None
    file, pid = _FILE.search(message), _PID.search(message)
    holder = f"process {pid[1]}" if pid else "another connection"
    return WarehouseBusy(
        f"{file[1] if file else path}: {holder} holds it; try again when it is done", holder=holder
    )


def first_line(error: Exception) -> str:
    """Return the first line of a message, without the kind that DuckDB puts before it."""
    quoted = _IN_ANOTHER_THREAD.search(str(error))
    message = json.loads(f'"{quoted[1]}"') if quoted else str(error)
    lines = message.strip().splitlines()
    return lines[0].split(" Error: ", 1)[-1] if lines else type(error).__name__


ROW_GROUP_SIZE = 30_720
"""Rows per row group. Every commit rewrites the last, partly filled row group of each column: with DuckDB's
default of 122,880 rows a first sync in batches of 50,000 rows takes half as long again. A read of a few days also
skips more if the groups are smaller."""

PRIVATE = ("raw", "history", "control")
"""The schemas that syncs write to; all other schemas are built from them."""

MEMORY_LIMIT = 1_000_000_000
"""Bytes of DuckDB's buffers without its indexes; DuckDB spills more than that to a folder beside the file."""

MEMORY_FOR_MARTS = 5_000_000_000
"""The same for builds and publications, if the machine has as much. Without it DuckDB takes 80 % of the machine's
memory: a build of ten million calls took 8.8 GiB, with it 5.1, for a tenth more CPU."""

MEMORY_FOR_ROWS = 128_000_000
"""The same while rows are taken in. A checkpoint needs 80 MiB if all rows are as long as `quarantine.LONG_ROW`."""

MEMORY_KEPT = 1_000_000
"""Bytes that DuckDB keeps between batches of rows, without its indexes. By default DuckDB frees nothing before its
limit is reached: with ten million calls a sync then took 917 MiB instead of 451, for the same CPU."""

MEMORY_A_KEY = 160
"""Bytes for each row of a table with an index. A batch of new keys needs the whole index in memory: 48 to 118
bytes per key were measured, by its length, and the changes of a transaction need memory too."""

LOOKED_UP_AT_MOST = 2_000
"""Keys of a batch up to which DuckDB looks them up in an index. With more keys DuckDB reads the whole column,
which is then cheaper. DuckDB's default of 50 is less than one page of a list."""

_LOOK_AGAIN_SECONDS = 0.25
_SILENT_SECONDS = 4 * _LOOK_AGAIN_SECONDS
"""Seconds without output after which a waiting command looks dead."""

_log = structlog.stdlib.get_logger("vetl.store")


def attach(path: Path, *, lock_wait_seconds: float, wait: Callable[[float], None] = time.sleep) -> Connection:
    """Open the file for writing; make it and its folder if they are missing.

    If another process holds the file, wait up to `lock_wait_seconds`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WarehouseError(cannot_write(path, error, "its folder cannot be made")) from None
    waited = 0.0
    while True:
        try:
            return _attach(path)
        except duckdb.Error as error:
            failure = as_warehouse_error(error, path, "cannot be opened")
            if not isinstance(failure, WarehouseBusy):
                raise failure from None
            holder, longest = failure.holder, span(lock_wait_seconds)
            if waited >= lock_wait_seconds:
                raise WarehouseBusy(
                    f"{path}: {holder} holds it, after {longest} of waiting; try again when it is done",
                    holder=holder,
                ) from None
            if waited == _SILENT_SECONDS:
                _log.warning("warehouse_held", path=str(path), holder=holder, longest=longest)
        pause = min(_LOOK_AGAIN_SECONDS, lock_wait_seconds - waited)
        wait(pause)
        waited += pause


@contextmanager
def attached(path: Path, *, lock_wait_seconds: float) -> Generator[Connection]:
    """Open the file for writing during the block; DuckDB's errors, that of the last write too, become vetl's."""
    with as_vetl_errors(path), closing(attach(path, lock_wait_seconds=lock_wait_seconds)) as connection:
        yield connection


def wait_until_free(path: Path, seconds: float) -> None:
    """Wait for a program that has the file open, such as DuckDB's shell, for at most so many seconds."""
    with attached(path, lock_wait_seconds=seconds):
        pass


@contextmanager
def transaction(connection: Connection) -> Generator[None]:
    """Commit all statements of the block, or none of them."""
    connection.begin()
    try:
        yield
        connection.commit()
    except BaseException:
        with suppress(duckdb.Error):  # a commit that failed on a full disk has ended the transaction already
            connection.rollback()
        raise


def attach_private(connection: Connection, private: Path) -> None:
    """Attach the private file read-only, as the default database of a connection without another one.

    It gets the name that it has in the file's own views; under another name they could not be read.
    """
    connection.execute(f"attach {literal(str(private))} (read_only)")
    [(name,)] = connection.execute(
        "select database_name from duckdb_databases() where not internal and database_name <> 'memory'"
    ).fetchall()
    connection.execute(f"use {quoted(name)}")


def _attach(path: Path) -> Connection:
    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": f"{path}.tmp",
        "dynamic_or_filter_threshold": LOOKED_UP_AT_MOST,
        # Write row groups one by one, not five at a time: a first sync takes 355 MiB instead of 380.
        "write_buffer_row_group_count": 1,
        # Give freed memory back after a statement. By default DuckDB keeps up to 128 MiB of it for each thread.
        "allocator_flush_threshold": "16MB",
    }
    connection = duckdb.connect(config=config)
    try:
        connection.execute(f"attach {literal(str(path))} as warehouse (row_group_size {ROW_GROUP_SIZE})")
        # No other process has the file open now, so a killed process has left these rows.
        shutil.rmtree(f"{path}.tmp", ignore_errors=True)
        connection.execute("use warehouse")
        limit_memory(connection, MEMORY_LIMIT)
        # DuckDB uses zstd for texts of more than 4,096 bytes, and takes memory for all of them in a row group,
        # beyond its limit: 608 MiB for 20 pages of 16 MiB, and 300 without it, however many there are.
        connection.execute("set disabled_compression_methods = 'zstd'")
        connection.execute("set TimeZone = 'UTC'")
        # The progress bar of a statement of two seconds would stand between the lines of `--json`.
        connection.execute("set enable_progress_bar = false")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def limit_memory(connection: Connection, most: int) -> None:
    """Free DuckDB's unused memory, and limit it to `most` bytes and the indexes of all open files.

    DuckDB refuses a limit below the memory in use, but first frees as much as it can.
    """
    [(keys,)] = connection.execute(
        "select coalesce(sum(estimated_size), 0)::bigint from duckdb_tables() where index_count > 0"
    ).fetchall()
    indexes = MEMORY_A_KEY * keys
    with suppress(duckdb.OutOfMemoryException):
        connection.execute(f"set memory_limit = '{MEMORY_KEPT + indexes}B'")
    connection.execute(f"set memory_limit = '{most + indexes}B'")


def memory_for_marts() -> str:
    """Return the limit of memory of a build or a publication if none is configured."""
    with closing(duckdb.connect()) as connection:
        [(least,)] = connection.execute(
            "select least(parse_formatted_bytes(current_setting('memory_limit')), ?)", [MEMORY_FOR_MARTS]
        ).fetchall()
    return f"{least}B"


def quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def same(one: str, other: str, column: str) -> str:
    """Return SQL that compares a column of two tables, which is never null, without a filter on that column.

    With an equation DuckDB would filter the whole table by the column and not look up the key in an index: 55 ms
    instead of 4 for a million rows of 50 practices.
    """
    return f"not ({one}.{quoted(column)} <> {other}.{quoted(column)})"


def same_key(one: str, other: str, key: Iterable[str]) -> str:
    """Return SQL that compares the keys and practices of two tables."""
    return f"{equal(one, other, key)} and {same(one, other, 'practice_id')}"


def equal(one: str, other: str, columns: Iterable[str]) -> str:
    """Return SQL that compares these columns of two tables."""
    return " and ".join(f"{one}.{quoted(name)} = {other}.{quoted(name)}" for name in columns)


def among(column: str, texts: Iterable[str]) -> str:
    """Return SQL that compares a column with these texts; without any, no row has one."""
    return f"{column} in ({', '.join(map(literal, texts)) or 'null'})"


def literal(text: str) -> str:
    """Return a text as an SQL literal, for statements that take no parameters."""
    return "'" + text.replace("'", "''") + "'"
