"""The inbox as files: made for their owner alone, told apart, and their errors in one line."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from pipelines.core.errors import InboxError

Identity = tuple[int, int]
"""Device and number of a file, whatever its name."""


def make(path: Path) -> None:
    """The file, empty and for its owner alone, in a folder that a power failure leaves there too.

    A file that is there is not touched. Closing a descriptor of it, whichever, would take this process's locks
    from the connections that it has open, and another process that closes the inbox after that deletes the log
    in which they keep on writing (SQLite: How To Corrupt, 2.2).
    """
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


def identities(path: Path) -> list[Identity | None]:
    """Which files these are: the database and its log; `None` where there is none."""
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
"""What must fit on the disk beside the inbox for it to be ready: a body of the largest size, and its log."""


def check_room(path: Path) -> None:
    """Make sure that `ROOM` can be written: allocate it for a moment, in a file without a known name.

    Raises:
        InboxError: the disk or the quota is full, or the folder cannot be written.
    """
    try:
        # At a fixed name another account could lay a link to a file of the owner.
        with TemporaryFile(dir=path.parent) as spare:
            os.posix_fallocate(spare.fileno(), 0, ROOM)
    except OSError as error:
        raise InboxError(f"{path}: {os.strerror(error.errno or 0)}") from None


@contextmanager
def as_vetl_errors(path: Path) -> Generator[None]:
    """SQLite's errors become one line with the path.

    Raises:
        InboxError: SQLite failed.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise InboxError(f"{path}: {error}") from None
