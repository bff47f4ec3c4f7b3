"""The inbox: an SQLite file in which a delivery is on disk before it is acknowledged.

SQLite and not the warehouse: DuckDB has one writer, which may be busy for an hour. Here a commit takes one
fsync (WAL, `synchronous = FULL`) and drain reads while the receiver writes.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pipelines.core.errors import InboxError
from pipelines.partner.webhooks import Channel
from pipelines.receiving.inbox_file import as_vetl_errors, check_room, identities, make

_SCHEMA = """
create table if not exists deliveries (
    number integer primary key autoincrement,
    channel text not null,
    practice_id text not null,   -- empty where the body does not tell
    key blob not null,           -- SHA-256 of the body: only the same bytes are a repeat
    body blob not null,
    received_at text not null,   -- ISO 8601, UTC
    drained_at text,
    unique (channel, practice_id, key)
) strict;
create index if not exists waiting on deliveries (number) where drained_at is null;
create index if not exists drained on deliveries (drained_at) where drained_at is not null;
create table if not exists probe (number integer primary key, at text not null) strict;
"""
_BUSY_MILLISECONDS = 5_000
_FORGOTTEN_AT_ONCE = 1_000
"""Rows of one deletion: the receiver waits meanwhile."""


IsAbout = Callable[[str, str], bool]
"""Whether a practice's text, here a body, is about somebody who was forgotten."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A delivery to keep. `practice_id` is empty where the body does not tell it.

    Only the same bytes are known to tell the same: a delivery that cannot be taken in must not keep out the
    corrected one with its id. What else repeats is decided when draining.
    """

    channel: Channel
    practice_id: str
    body: bytes
    received_at: datetime


@dataclass(frozen=True, slots=True)
class WaitingDelivery:
    """A delivery that has not been moved into raw yet."""

    number: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class Backlog:
    """How much waits, and since when the oldest of it.

    `last` is the number of the latest delivery that is kept, 0 before the first.
    """

    waiting: int = 0
    oldest: datetime | None = None
    last: int = 0
    last_received: datetime | None = None


def look(path: Path) -> Backlog:
    """How much waits in the inbox at this path, which is neither made nor written; where there is none, nothing.

    Raises:
        InboxError: it cannot be read, or is no inbox.
    """
    if not path.exists():
        return Backlog()
    with (
        as_vetl_errors(path),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        connection.execute(f"pragma busy_timeout = {_BUSY_MILLISECONDS}")
        return _backlog(connection)


class Inbox:
    """An open inbox. A context manager; one caller at a time, from whatever thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._files = identities(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, made where it is missing, for its owner alone: bodies hold personal data.

        Raises:
            InboxError: it cannot be made or opened, or is no inbox.
        """
        try:
            make(path)
        except OSError as error:
            raise InboxError(f"{path}: cannot be made or opened: {error.strerror}") from None
        with as_vetl_errors(path):
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            try:
                connection.execute(f"pragma busy_timeout = {_BUSY_MILLISECONDS}")
                connection.execute("pragma journal_mode = wal")
                connection.execute("pragma synchronous = full")
                connection.execute("pragma journal_size_limit = 67108864")
                connection.executescript(_SCHEMA)
            except sqlite3.Error:
                connection.close()
                raise
        return cls(path, connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def keep(self, entries: Sequence[Entry]) -> list[bool]:
        """Keep all of them in one commit; on disk when this returns. Tells of each whether it was new.

        Raises:
            InboxError: the disk is full or fails, or someone has moved or deleted the file meanwhile, and what is
                written to it now would be found by nobody; none of them was kept.
        """
        with self._writing():
            news = [self._insert(entry) for entry in entries]
        self._still_there()
        return news

    def probe(self) -> None:
        """Write and commit, as a delivery would. That may find a place in the log; a new one is asked for too.

        Raises:
            InboxError: that cannot be done.
        """
        check_room(self._path)
        with self._writing():
            self._connection.execute("insert or replace into probe values (1, ?)", [_now()])
        self._still_there()

    def waiting(self, limit: int) -> list[WaitingDelivery]:
        """The oldest deliveries that are not drained, in the order in which they came."""
        with as_vetl_errors(self._path):
            rows = self._connection.execute(
                "select number, channel, practice_id, body, received_at from deliveries"
                " where drained_at is null order by number limit ?",
                [limit],
            ).fetchall()
        return [
            WaitingDelivery(
                number, Entry(Channel(channel), practice_id, body, datetime.fromisoformat(received_at))
            )
            for number, channel, practice_id, body, received_at in rows
        ]

    def settle(self, numbers: Sequence[int]) -> None:
        """These have been moved into raw."""
        with self._writing():
            now = _now()
            self._connection.executemany(
                "update deliveries set drained_at = ? where number = ?", [(now, number) for number in numbers]
            )

    def forget(self, drained_before: datetime) -> int:
        """Delete what was drained before this. Returns how many."""
        forgotten = 0
        while some := self._forget_some(drained_before.astimezone(UTC).isoformat()):
            forgotten += some
        return forgotten

    def about(self, is_about: IsAbout, *, drained: bool = True) -> list[int]:
        """Return the numbers of the deliveries, drained or waiting, of which `is_about` holds."""
        state = "drained_at is not null" if drained else "drained_at is null"
        with as_vetl_errors(self._path):
            rows = self._connection.execute(f"select number, practice_id, body from deliveries where {state}")  # noqa: S608 - ours
            return [number for number, of, body in rows if is_about(of, body.decode(errors="replace"))]

    def erase(self, numbers: Sequence[int]) -> None:
        """Delete these deliveries, and let none of their bytes stay in the file or in its log."""
        self._connection.execute("pragma secure_delete = on")
        with self._writing():
            self._connection.executemany("delete from deliveries where number = ?", [(item,) for item in numbers])
        with as_vetl_errors(self._path):
            self._connection.execute("vacuum")
            self._connection.execute("pragma wal_checkpoint(truncate)")

    def backlog(self) -> Backlog:
        """How much waits to be drained."""
        with as_vetl_errors(self._path):
            return _backlog(self._connection)

    def _still_there(self) -> None:
        if identities(self._path) != self._files:
            raise InboxError(f"{self._path}: was moved or deleted while it was in use; start the receiver again")

    def _forget_some(self, drained_before: str) -> int:
        with self._writing():
            return self._connection.execute(
                "delete from deliveries where number in"
                " (select number from deliveries where drained_at < ? limit ?)",
                [drained_before, _FORGOTTEN_AT_ONCE],
            ).rowcount

    def _insert(self, entry: Entry) -> bool:
        cursor = self._connection.execute(
            "insert into deliveries (channel, practice_id, key, body, received_at) values (?, ?, ?, ?, ?)"
            " on conflict (channel, practice_id, key) do nothing",
            [
                *(entry.channel.value, entry.practice_id, hashlib.sha256(entry.body).digest(), entry.body),
                entry.received_at.astimezone(UTC).isoformat(),
            ],
        )
        return cursor.rowcount == 1

    @contextmanager
    def _writing(self) -> Generator[None]:
        with as_vetl_errors(self._path):
            self._connection.execute("begin immediate")
            try:
                yield
                self._connection.execute("commit")
            except BaseException:
                # A full disk may have ended the transaction by itself.
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise


def _backlog(connection: sqlite3.Connection) -> Backlog:
    """From the indexes alone, and two rows: it is asked for while a million wait."""
    waiting = connection.execute("select count(*) from deliveries where drained_at is null").fetchone()[0]
    oldest = connection.execute(
        "select received_at from deliveries where drained_at is null order by number limit 1"
    ).fetchone()
    last = connection.execute("select number, received_at from deliveries order by number desc limit 1").fetchone()
    return Backlog(
        waiting,
        datetime.fromisoformat(oldest[0]) if oldest else None,
        last[0] if last else 0,
        datetime.fromisoformat(last[1]) if last else None,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat()
