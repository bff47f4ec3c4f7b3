"""Write rows: append new rows, move superseded versions to history, mark deleted rows; overwrite none."""

import polars as pl

from vetl.store.context import Commit, registered_frames
from vetl.store.control import dirty_days, lookups

TARGET = "_target"
"""The row id, in the raw table, of the row that an incoming row supersedes; null for a new row."""


def write(commit: Commit, frame: pl.DataFrame) -> None:
    """Write rows with all their columns and their practice; a row is valid from its `_loaded_at`.

    A row with a `_target` supersedes that row, which moves to history unchanged.
    """
    if frame.is_empty():
        return
    table = commit.connection
    superseded = frame.filter(pl.col(TARGET).is_not_null()).select(TARGET, until="_loaded_at")
    if not superseded.is_empty():
        dirty_days.note_stored(commit, superseded)
        with registered_frames(table, superseded=superseded):
            table.execute(
                f"insert into {commit.table.history} by name"
                " select stored.*, stored._loaded_at as _valid_from, superseded.until as _valid_to"
                f" from {commit.table.raw} as stored join superseded on stored.rowid = superseded._target"
            )
            table.execute(f"delete from {commit.table.raw} where rowid in (select _target from superseded)")
    dirty_days.note_new(commit, frame)
    with registered_frames(table, written=frame.drop(TARGET)):
        table.execute(
            f"insert into {commit.table.raw} by name"
            " select written.*, ? as _run_id, null as _deleted_at from written",
            [commit.run_id],
        )
    lookups.record_mentions(commit, frame)


def touch(commit: Commit, frame: pl.DataFrame) -> None:
    """Update rows whose own fields are unchanged, but that were marked as deleted or had other unknown fields.

    `frame` has `_target`, `_loaded_at` and `_extra`. No version is made.
    """
    if frame.is_empty():
        return
    dirty_days.note_stored(commit, frame)
    with registered_frames(commit.connection, touched=frame):
        commit.connection.execute(
            f"update {commit.table.raw} as stored set _deleted_at = null, _extra = touched._extra, _run_id = ?,"
            " _loaded_at = if(stored._deleted_at is null, stored._loaded_at, touched._loaded_at)"
            " from touched where stored.rowid = touched._target",
            [commit.run_id],
        )


def mark_deleted(commit: Commit, frame: pl.DataFrame) -> None:
    """Mark rows as deleted at the source: `frame` has `_target` and `_deleted_at`. The rows stay in raw."""
    if frame.is_empty():
        return
    dirty_days.note_stored(commit, frame)
    with registered_frames(commit.connection, gone=frame):
        commit.connection.execute(
            f"update {commit.table.raw} as stored set _deleted_at = gone._deleted_at, _run_id = ?"
            " from gone where stored.rowid = gone._target",
            [commit.run_id],
        )
