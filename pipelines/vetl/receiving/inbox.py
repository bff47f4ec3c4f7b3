"""The inbox: an SQLite file in which a delivery is on disk before it is acknowledged.

It is not in the warehouse, because DuckDB has a single writer, which may be busy for an hour. In SQLite a commit
takes one fsync (WAL, `synchronous = FULL`), and `drain` reads while the receiver writes.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from vetl.core.errors import InboxError
from vetl.partner.webhooks import Channel
from vetl.store.sqlite_file import SqliteFile, identities

_SCHEMA = """
create table if not exists deliveries (
    number integer primary key autoincrement,
    channel text not null,
    practice_id text not null,   -- empty if the body does not contain it
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
_FORGOTTEN_AT_ONCE = 1_000
"""Most rows of one deletion, because the receiver waits meanwhile."""


IsAbout = Callable[[str, str], bool]
"""Return whether a text of a practice, here a body, is about a forgotten person."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A delivery; `practice_id` is empty if the body does not contain it, `number` is 0 until it is kept.

    Two entries are the same delivery only if their bytes are equal, so that a delivery that cannot be stored does
    not displace the corrected delivery with its id. `drain` finds other repetitions.
    """

    channel: Channel
    practice_id: str
    body: bytes
    received_at: datetime
    number: int = 0


@dataclass(frozen=True, slots=True)
class Backlog:
    """The number of waiting deliveries, and the arrival of the oldest of them.

    `last` is the number of the latest stored delivery, or 0 before the first.
    """

    waiting: int = 0
    oldest: datetime | None = None
    last: int = 0
    last_received: datetime | None = None


def read_backlog(path: Path) -> Backlog:
    """Return the backlog of the inbox at this path, without a write; it is empty if there is no inbox.

    Raise `InboxError` if the file cannot be read, or is no inbox.
    """
    if not path.exists():
        return Backlog()
    with Inbox.read_only(path) as connection:
        return _backlog(connection)


class Inbox(SqliteFile):
    """An open inbox and context manager, for one caller at a time from any thread."""

    schema = _SCHEMA
    failure = InboxError

    def keep(self, entries: Sequence[Entry]) -> list[bool]:
        """Store all entries on disk in one commit; return for each entry whether it was new.

        Raise `InboxError` if no entry was stored, because the disk is full or fails, or because the file was moved
        or deleted, so that nobody would find its new rows.
        """
        with self.writing():
            news = [self._insert(entry) for entry in entries]
        self._still_there()
        return news

    def probe(self) -> None:
        """Write and commit a row to test that a delivery can be stored.

        Raise `InboxError` if the row cannot be written, or the disk has no room.
        """
        # The row may fit into free space of the log although the disk is full.
        self.check_room()
        with self.writing():
            self._connection.execute("insert or replace into probe values (1, ?)", [_now()])
        self._still_there()

    def waiting(self, limit: int) -> list[Entry]:
        """Return the oldest deliveries that are not drained, in the order of their arrival."""
        with self._reading():
            rows = self._connection.execute(
                "select channel, practice_id, body, received_at, number from deliveries"
                " where drained_at is null order by number limit ?",
                [limit],
            ).fetchall()
        return [
            Entry(Channel(channel), practice_id, body, datetime.fromisoformat(received_at), number)
            for channel, practice_id, body, received_at, number in rows
        ]

    def settle(self, numbers: Sequence[int]) -> None:
        """Mark deliveries as moved into the warehouse."""
        with self.writing():
            now = _now()
            self._connection.executemany(
                "update deliveries set drained_at = ? where number = ?", [(now, number) for number in numbers]
            )

    def drain_again(self) -> int:
        """Let each delivery be drained again, for a warehouse that is older than the inbox; return their number.

        A delivery that the warehouse has already changes nothing there.
        """
        with self.writing():
            return self._connection.execute(
                "update deliveries set drained_at = null where drained_at is not null"
            ).rowcount

    def forget(self, drained_before: datetime) -> int:
        """Delete deliveries that were drained before this time; return their number."""
        forgotten = 0
        while some := self._forget_some(drained_before.astimezone(UTC).isoformat()):
            forgotten += some
        return forgotten

    def about(self, is_about: IsAbout, *, drained: bool = True) -> list[int]:
        """Return the numbers of the drained or waiting deliveries for which `is_about` returns true."""
        state = "drained_at is not null" if drained else "drained_at is null"
        with self._reading():
            rows = self._connection.execute(f"select number, practice_id, body from deliveries where {state}")  # noqa: S608 - ours
            return [number for number, of, body in rows if is_about(of, body.decode(errors="replace"))]

    def erase(self, numbers: Sequence[int]) -> None:
        """Delete deliveries so that none of their bytes stays in the file or in its log."""
        with self.writing():
            self._connection.executemany("delete from deliveries where number = ?", [(item,) for item in numbers])
        self.erase_remains()

    def backlog(self) -> Backlog:
        """Return the backlog."""
        with self._reading():
            return _backlog(self._connection)

    def _still_there(self) -> None:
        if identities(self._path) != self._files:
            raise InboxError(f"{self._path}: was moved or deleted while it was in use; start the receiver again")

    def _forget_some(self, drained_before: str) -> int:
        with self.writing():
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
                entry.channel.value,
                entry.practice_id,
                hashlib.sha256(entry.body).digest(),
                entry.body,
                entry.received_at.astimezone(UTC).isoformat(),
            ],
        )
        return cursor.rowcount == 1


def _backlog(connection: sqlite3.Connection) -> Backlog:
    # The queries use the indexes and two rows only, so they stay fast while a million deliveries wait.
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
