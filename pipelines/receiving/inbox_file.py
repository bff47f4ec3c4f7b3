"""Files of the inbox and the ledger of acts: made for their owner alone, opened, and errors in one line."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from pipelines.core.errors import InboxError

BUSY_MILLISECONDS = 5_000
"""How long a connection waits for a lock of another one."""

Identity = tuple[int, int]
"""The device and the number of a file, independent of its name."""


def make(path: Path) -> None:
    """Create an empty file for its owner alone, if it does not exist; its folder survives a power failure."""
    # An existing file must not be opened: to close any descriptor of it would release the locks of this process's
    # connections. If another process then closes the inbox, it deletes the log that these connections still write
    # (SQLite: How To Corrupt, 2.2).
    made = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    for folder in (path.parent, *(folder.parent for folder in made)):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def connect(path: Path, schema: str) -> sqlite3.Connection:
    """Open the file for any thread, with a write-ahead log that is on disk after each commit.

    Raises:
        sqlite3.Error: it cannot be opened, or is no such database.
    """
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"pragma busy_timeout = {BUSY_MILLISECONDS}")
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        connection.execute("pragma journal_size_limit = 67108864")
        connection.executescript(schema)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def identities(path: Path) -> list[Identity | None]:
    """Return the identities of the database and of its log, `None` for a missing file."""
    files: list[Identity | None] = []
    for name in (path, path.with_name(f"{path.name}-wal")):
        try:
            status = name.stat()
        except OSError:
            files.append(None)
        else:
            files.append((status.st_dev, status.st_ino))
    return files


ROOM = 2 * 1_048_576
"""Free bytes that a ready inbox needs on the disk: a body of the largest size, and its log."""


def check_room(path: Path) -> None:
    """Test that `ROOM` can be written: allocate it for a moment in a file with a random name.

    Raises:
        InboxError: the disk or the quota is full, or the folder cannot be written.
    """
    try:
        # At a fixed name another account could create a link to a file of the owner.
        with TemporaryFile(dir=path.parent) as spare:
            os.posix_fallocate(spare.fileno(), 0, ROOM)
    except OSError as error:
        raise InboxError(f"{path}: {os.strerror(error.errno or 0)}") from None


_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR")


@contextmanager
def as_vetl_errors(path: Path) -> Generator[None]:
    """Turn errors of SQLite into errors of one line with the path.

    Raises:
        InboxError: SQLite failed.
    """
    try:
        yield
    except sqlite3.Error as error:
        # On a full disk SQLite reports either error, by the file that it writes first.
        name = getattr(error, "sqlite_errorname", "")
        hint = "; is the disk full? make room and run it again" if name.startswith(_NO_ROOM) else ""
        raise InboxError(f"{path}: {error}{hint}") from None
