"""What the source was asked for by id: when, and whether it was there."""

from collections.abc import Sequence
from datetime import datetime

import polars as pl

from pipelines.core.pages import Changes
from pipelines.core.steps import MissingRecords
from pipelines.loading.context import Commit, frame_of, registered_frames
from pipelines.loading.control import restatements
from pipelines.loading.instants import INSTANT
from pipelines.loading.versions import mark_deleted


def keep_read(commit: Commit, frame: pl.DataFrame) -> None:
    """These ids were read: `frame` has `id` and `_loaded_at`."""
    read = frame.select("id", read_at="_loaded_at")
    _replace(commit, "control.lookups", read)
    _remove(commit, "control.missing_records", read)
    _remove(commit, "control.mentions", read)


def keep_looks(commit: Commit, ids: Sequence[str], read_at: datetime) -> None:
    """These ids were asked for, whatever the answer was."""
    looked = pl.DataFrame({"id": list(ids)}, schema={"id": pl.String})
    _replace(commit, "control.lookups", looked.with_columns(read_at=pl.lit(read_at, INSTANT)))


def keep_missing(commit: Commit, saves: Sequence[MissingRecords]) -> Changes:
    """The source does not have these ids: remembered, and where they are in raw they are marked as deleted."""
    ids = {str(item): save.read_at for save in saves for item in save.ids}
    if not ids:
        return Changes()
    missing = pl.DataFrame(
        {"id": list(ids), "read_at": list(ids.values())}, schema={"id": pl.String, "read_at": INSTANT}
    )
    _replace(commit, "control.missing_records", missing)
    _remove(commit, "control.lookups", missing)
    _remove(commit, "control.mentions", missing)
    with registered_frames(commit.connection, missing=missing):
        gone = frame_of(
            commit.connection,
            "select stored.rowid as _target, stored.id, missing.read_at as _deleted_at"
            f" from {commit.table.raw} as stored join missing on stored.id = missing.id"
            " where stored.practice_id = $practice and stored._deleted_at is null",
            params={"practice": commit.practice_id},
        )
    mark_deleted(commit, gone.drop("id"))
    restated = restatements.record_restatements(commit, gone.select("id", noticed_at="_deleted_at"), ("id",))
    return Changes(deleted=gone.height, restated=restated)


def _replace(commit: Commit, table: str, rows: pl.DataFrame) -> None:
    _remove(commit, table, rows)
    with registered_frames(commit.connection, rows=rows):
        commit.connection.execute(
            f"insert into {table} by name select ? as practice_id, ? as endpoint, rows.* from rows",
            [commit.practice_id, commit.endpoint_name],
        )


def _remove(commit: Commit, table: str, rows: pl.DataFrame) -> None:
    with registered_frames(commit.connection, rows=rows):
        commit.connection.execute(
            f"delete from {table} where practice_id = ? and endpoint = ? and id in (select id from rows)",
            [commit.practice_id, commit.endpoint_name],
        )
