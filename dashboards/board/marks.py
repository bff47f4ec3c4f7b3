"""Marks on the call-back list, in an SQLite file: who was reached, did not answer, or needs no call."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vetl.core.errors import LedgerError
from vetl.sqlite_file import SqliteFile

MARKS = {"done": "Done", "no_answer": "No answer", "not_needed": "Not needed"}
"""The marks, and the labels of their buttons."""


class Marks(SqliteFile):
    """The file, open. It names booking requests, no people."""

    schema = """
        create table if not exists marks (
            practice_id text not null, episode_id text not null, mark text not null,
            marked_at text not null, marked_by text not null,
            primary key (practice_id, episode_id, marked_at)
        ) strict;
    """
    failure = LedgerError

    def add(self, practice_id: str, episode_id: str, mark: str, user: str) -> None:
        """Keep a mark, and who made it."""
        row = [practice_id, episode_id, mark, datetime.now(UTC).isoformat(), user]
        with self.writing():
            self._connection.execute("insert into marks values (?, ?, ?, ?, ?)", row)


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
