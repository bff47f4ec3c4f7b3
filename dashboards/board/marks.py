"""What users keep, in an SQLite file: the marks on the call-back list, and views of Explore by name."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vetl.core.errors import LedgerError
from vetl.store.sqlite_file import SqliteFile

MARKS = {"done": "Done", "no_answer": "No answer", "not_needed": "Not needed"}
"""The marks, and the labels of their buttons."""


class Marks(SqliteFile):
    """The file, open. It names booking requests and addresses of views, no people."""

    schema = """
        create table if not exists marks (
            practice_id text not null, episode_id text not null, mark text not null,
            marked_at text not null, marked_by text not null,
            primary key (practice_id, episode_id, marked_at)
        ) strict;
        create table if not exists views (
            user text not null, name text not null, address text not null, primary key (user, name)
        ) strict;
    """
    failure = LedgerError

    def add(self, practice_id: str, episode_id: str, mark: str, user: str) -> None:
        """Keep a mark, and who made it."""
        row = [practice_id, episode_id, mark, datetime.now(UTC).isoformat(), user]
        with self.writing():
            self._connection.execute("insert into marks values (?, ?, ?, ?, ?)", row)

    def save_view(self, user: str, name: str, address: str | None) -> None:
        """Keep the address of a view under a name of this user, in place of an earlier one; `None` removes it."""
        with self.writing():
            self._connection.execute("delete from views where user = ? and name = ?", [user, name])
            if address is not None:
                self._connection.execute("insert into views values (?, ?, ?)", [user, name, address])


def views_of(file: Path | None, user: str) -> dict[str, str]:
    """Return the addresses of a user's views, by name.

    Raises:
        LedgerError: the file cannot be read.
    """
    if file is None or not file.exists():
        return {}
    with Marks.read_only(file) as connection:
        if not connection.execute("select 1 from sqlite_master where name = 'views'").fetchone():
            return {}  # nobody has written it since views exist
        return dict(connection.execute("select name, address from views where user = ? order by name", [user]))


def parameters_of(file: Path | None) -> Mapping[str, Sequence[Any]]:
    """Return the last mark of each request, as lists for the parameters of `LATEST`.

    Raises:
        LedgerError: the file cannot be read.
    """
    rows: list[tuple[Any, ...]] = []
    if file is not None and file.exists():
        with Marks.read_only(file) as connection:
            rows = connection.execute(
                # SQLite takes `mark` from the row of the maximum.
                "select practice_id, episode_id, mark, max(marked_at), sum(mark = 'no_answer')"
                " from marks group by practice_id, episode_id"
            ).fetchall()
    columns = list(zip(*rows, strict=True)) or [()] * 5
    names = ("marked_of", "marked", "marks", "marked_at", "unanswered")
    return {name: list(values) for name, values in zip(names, columns, strict=True)}


LATEST = """(
    select unnest($marked_of::varchar[]) as practice_id, unnest($marked::varchar[]) as episode_id,
           unnest($marks::varchar[]) as mark, unnest($marked_at::varchar[])::timestamptz as marked_at,
           unnest($unanswered::bigint[]) as unanswered
)"""
"""SQL for the last mark of each request, and how often nobody answered."""
