"""SQLite files of vetl: the inbox and the ledgers, each made for its owner alone, with errors in one line."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import ClassVar, Self

from vetl.core.errors import MAKE_ROOM, BackupError, VetlError, WarehouseError, cannot_write

BUSY_MILLISECONDS = 5_000
"""How long a connection waits for a lock of another one."""

ROOM = 2 * 1_048_576
"""Free bytes that a file which is ready needs on the disk: a body of the largest size, and its log."""

_HEADER = b"SQLite format 3\0"

Identity = tuple[int, int]
"""The device and the number of a file, independent of its name."""

_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR")


class SqliteFile:
    """An open file and context manager, for one caller at a time from any thread.

    A commit takes one fsync (WAL, `synchronous = FULL`). A subclass has its tables (`schema`), its error
    (`failure`), and the errors of Python that a row causes which vetl did not write (`misread`).
    """

    schema: ClassVar[str]
    failure: ClassVar[type[VetlError]]
    misread: ClassVar[tuple[type[Exception], ...]] = ()

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._files = identities(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, or create it for its owner alone, because it contains personal data.

        Raise `failure` if the file cannot be created or opened, or is another file.
        """
        try:
            make(path)
        except OSError as error:
            raise cls.failure(cannot_write(path, error, "cannot be made or opened")) from None
        with cls._errors(path):
            return cls(path, _connect(path, cls.schema))

    @classmethod
    @contextmanager
    def read_only(cls, path: Path) -> Generator[sqlite3.Connection]:
        """Open a file that exists, without a write. Raise `failure` if it cannot be read, or is another file."""
        with cls._errors(path), closing(_read_only(path)) as connection:
            yield connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def writing(self) -> Generator[None]:
        """Commit the statements of the block together; blocks may be nested."""
        with self._reading():
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("begin immediate")
            try:
                yield
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:  # a full disk may have ended it
                    self._connection.execute("rollback")
                raise

    @contextmanager
    def _reading(self) -> Generator[None]:
        with self._errors(self._path):
            yield

    def erase_remains(self) -> None:
        """Remove the bytes of rows that were deleted or changed from the file and its log."""
        with self._reading():
            self._connection.execute("vacuum")
            self._connection.execute("pragma wal_checkpoint(truncate)")

    @classmethod
    @contextmanager
    def _errors(cls, path: Path) -> Generator[None]:
        """Turn errors of SQLite into errors of one line with the path."""
        try:
            yield
        except sqlite3.Error as error:
            # On a full disk SQLite reports either error, by the file that it writes first.
            name = getattr(error, "sqlite_errorname", "")
            hint = f"; is the disk full?{MAKE_ROOM[1:]}" if name.startswith(_NO_ROOM) else ""
            raise cls.failure(f"{path}: {error}{hint}") from None
        except cls.misread:
            raise cls.failure(f"{path}: holds rows that vetl did not write") from None

    def check_room(self) -> None:
        """Test that `ROOM` can be written: write it for a moment to a file with a random name.

        Raise `failure` if the disk or the quota is full, or the folder cannot be written.
        """
        try:
            # At a fixed name another account could create a link to a file of the owner.
            with TemporaryFile(dir=self._path.parent) as spare:
                spare.write(bytes(ROOM))
        except OSError as error:
            raise self.failure(f"{self._path}: {os.strerror(error.errno or 0)}") from None


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
        sync_to_disk(folder)


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


def is_sqlite(path: Path) -> bool:
    """Return whether a file that no connection of this process has open is an SQLite database."""
    with path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


def is_whole(path: Path) -> bool:
    """Return whether SQLite can read every page of the file."""
    try:
        with closing(_read_only(path)) as connection:
            return connection.execute("pragma quick_check").fetchone() == ("ok",)
    except sqlite3.Error:
        return False


def copy_whole(source: Path, target: Path) -> None:
    """Copy a database into a new file of one piece, also while other processes write it.

    Raise `BackupError` if it cannot be read or written, or is damaged.
    """
    try:
        with closing(_read_only(source)) as read, closing(sqlite3.connect(target)) as written:
            read.backup(written)
            written.execute("pragma journal_mode = delete")
            if written.execute("pragma quick_check").fetchone() != ("ok",):
                raise BackupError(f"{source}: is damaged")
    except sqlite3.Error as error:
        raise BackupError(f"{source}: cannot be copied: {error}") from None


def erase_remains(path: Path) -> None:
    """Write a database again without the bytes of deleted and changed rows, and empty its log."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(f"pragma busy_timeout = {BUSY_MILLISECONDS}")
            connection.execute("pragma secure_delete = on")
            connection.execute("vacuum")
            connection.execute("pragma wal_checkpoint(truncate)")
    except sqlite3.Error as error:
        raise WarehouseError(f"{path}: cannot be rewritten: {error}") from None


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a file that exists, also on a full disk and in a folder that nobody may write.

    A reader needs shared memory beside the file, which cannot be made there. If there is no log either, no other
    process has the file open, and it is read as it is.
    """
    address, log = f"{path.absolute().as_uri()}?mode=ro", path.with_name(f"{path.name}-wal")
    connection = sqlite3.connect(address, uri=True)
    try:
        connection.execute(f"pragma busy_timeout = {BUSY_MILLISECONDS}")
        connection.execute("select 1 from sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if not path.exists() or (log.exists() and log.stat().st_size):
            raise
        connection = sqlite3.connect(f"{address}&immutable=1", uri=True)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect(path: Path, schema: str) -> sqlite3.Connection:
    """Open the file for any thread, with a write-ahead log that is on disk after each commit."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"pragma busy_timeout = {BUSY_MILLISECONDS}")
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        connection.execute("pragma secure_delete = on")
        connection.execute("pragma journal_size_limit = 67108864")
        connection.executescript(schema)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def sync_to_disk(path: Path) -> None:
    """Bring a file, or the names in a folder, onto the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
