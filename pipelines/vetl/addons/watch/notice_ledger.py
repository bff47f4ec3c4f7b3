"""The ledger of notices: an SQLite file of the episodes that were found, and of each message by its recipient.

A message is written before it leaves and marked after the server took it, so it is sent once however often vetl
runs. A message whose end is unknown, because the process was killed meanwhile, is not sent again by itself.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from vetl.core.errors import LedgerError
from vetl.store.sqlite_file import SqliteFile

_SCHEMA = """
create table if not exists looked (
    watch text not null, practice_id text not null,
    through text not null,       -- the last closed period that was judged
    primary key (watch, practice_id)
) strict;
create table if not exists episodes (
    watch text not null, practice_id text not null,
    began text not null, last text not null, ended text,
    is_over integer not null default 0,
    line text not null,
    primary key (watch, practice_id, began)
) strict;
create table if not exists messages (
    id text not null, recipient text not null,
    state text not null,         -- due, sending, sent, failed
    text text not null, at text not null, note text not null default '',
    primary key (id, recipient)
) strict;
"""

MessageState = Literal["due", "sending", "sent", "failed"]


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """An episode as the ledger knows it; `ended` is `None` for one that is over because data was corrected."""

    watch: str
    practice_id: str
    began: date
    last: date
    ended: date | None
    is_over: bool
    line: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to one recipient. `id` names its subject: a letter of a period, an event of an episode."""

    id: str
    recipient: str
    state: MessageState
    text: str
    at: str
    note: str


class NoticeLedger(SqliteFile):
    """An open ledger. A context manager."""

    schema = _SCHEMA
    failure = LedgerError
    misread = (ValueError, TypeError)

    def through(self, watch: str, practice_id: str) -> date | None:
        """Return the last period that was judged; `None` if the threshold is new at this practice."""
        with self._reading():
            row = self._connection.execute(
                "select through from looked where watch = ? and practice_id = ?", [watch, practice_id]
            ).fetchone()
        return date.fromisoformat(row[0]) if row else None

    def judged_through(self, watch: str, practice_id: str, through: date) -> None:
        """Record the last period that was judged."""
        with self.writing():
            self._connection.execute(
                "insert into looked values (?, ?, ?) on conflict (watch, practice_id) do update set through ="
                " max(through, excluded.through)",
                [watch, practice_id, through.isoformat()],
            )

    def episodes(self, watch: str, practice_id: str) -> list[StoredEpisode]:
        """Return the episodes of a threshold at a practice."""
        with self._reading():
            return _episodes(self._connection, "where watch = ? and practice_id = ?", [watch, practice_id])

    def keep(self, episode: StoredEpisode) -> None:
        """Write an episode, or its new end."""
        watch, practice_id, *days, is_over, line = astuple(episode)
        with self.writing():
            self._connection.execute(
                "insert or replace into episodes values (?, ?, ?, ?, ?, ?, ?)",
                [watch, practice_id, *(day and day.isoformat() for day in days), is_over, line],
            )

    def due(self, key: str, recipients: Sequence[str], text: str, at: datetime) -> None:
        """Note that a message is due to each of these recipients; one that was noted before stays as it is."""
        with self.writing():
            self._connection.executemany(
                "insert into messages (id, recipient, state, text, at) values (?, ?, 'due', ?, ?)"
                " on conflict (id, recipient) do nothing",
                [(key, recipient, text, at.isoformat()) for recipient in recipients],
            )

    def messages(self, states: Sequence[MessageState] = ()) -> list[Notice]:
        """Return the messages in these states, or all."""
        with self._reading():
            rows = self._connection.execute(
                "select id, recipient, state, text, at, note from messages order by at, id, recipient"
            )
            return [message for message in (Notice(*row) for row in rows) if not states or message.state in states]

    def claim(self, messages: Sequence[Notice], *, again: bool = False) -> list[Notice]:
        """Take messages that are about to leave; return those that no other process has taken or sent."""
        taken: list[Notice] = []
        free = "true" if again else "state in ('due', 'failed')"
        with self.writing():
            for message in messages:
                changed = self._connection.execute(
                    f"update messages set state = 'sending', note = '' where id = ? and recipient = ? and {free}",
                    [message.id, message.recipient],
                )
                taken += [message] if changed.rowcount else []
        return taken

    def ended(self, messages: Sequence[Notice], state: MessageState, at: datetime, note: str = "") -> None:
        """Record whether the messages were taken by the server."""
        with self.writing():
            self._connection.executemany(
                "update messages set state = ?, at = ?, note = ? where id = ? and recipient = ?",
                [(state, at.isoformat(), note, message.id, message.recipient) for message in messages],
            )


def open_episodes(path: Path, since: date | None = None) -> list[StoredEpisode]:
    """Return the episodes that are not over, and those whose last period began on the day `since` or later.

    The ledger is neither made nor written; without a file there is no episode.
    """
    if not path.exists():
        return []
    with NoticeLedger.read_only(path) as connection:
        return _episodes(connection, "where is_over = 0 or last >= ?", [since.isoformat() if since else "never"])


def _episodes(connection: sqlite3.Connection, where: str, values: Sequence[str]) -> list[StoredEpisode]:
    rows = connection.execute(
        f"select watch, practice_id, began, last, ended, is_over, line from episodes {where}"
        " order by began, practice_id",
        values,
    )
    day = date.fromisoformat
    return [
        StoredEpisode(watch, practice, day(began), day(last), day(ended) if ended else None, bool(is_over), line)
        for watch, practice, began, last, ended, is_over, line in rows
    ]
