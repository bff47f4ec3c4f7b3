"""Turn DuckDB's errors into vetl's: one line each, with the failure, the file and the remedy."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from vetl.core.errors import MAKE_ROOM, NotStorable, WarehouseBusy, WarehouseError

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

    Raises:
        NotStorable: DuckDB refuses a value, or the rows are too large for its memory. The message about a value
            names only the kind of error; DuckDB's may quote it.
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
