# ruff: noqa: S608 - names come from declarations and are quoted; values are parameters
"""What the source was asked for by id: when, and whether it was there."""

from collections.abc import Sequence
from datetime import datetime

import polars as pl

from pipelines.loading import restatements
from pipelines.loading.context import Commit, shown
from pipelines.loading.instants import INSTANT
from pipelines.loading.versions import mark_deleted
from pipelines.pages import Changes
from pipelines.steps import MissingRecords


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
    with shown(commit.connection, missing=missing):
        gone = commit.connection.sql(
            "select stored.rowid as _target, stored.id, missing.read_at as _deleted_at"
            f" from {commit.table.raw} as stored join missing on stored.id = missing.id"
            " where stored.practice_id = $practice and stored._deleted_at is null",
            params={"practice": commit.practice_id},
        ).pl()
    mark_deleted(commit, gone.drop("id"))
    restated = restatements.keep(commit, gone.select("id", noticed_at="_deleted_at"), ("id",))
    return Changes(deleted=gone.height, restated=restated)


def _replace(commit: Commit, table: str, rows: pl.DataFrame) -> None:
    _remove(commit, table, rows)
    with shown(commit.connection, rows=rows):
        commit.connection.execute(
            f"insert into {table} by name select ? as practice_id, ? as endpoint, rows.* from rows",
            [commit.practice_id, commit.endpoint_name],
        )


def _remove(commit: Commit, table: str, rows: pl.DataFrame) -> None:
    with shown(commit.connection, rows=rows):
        commit.connection.execute(
            f"delete from {table} where practice_id = ? and endpoint = ? and id in (select id from rows)",
            [commit.practice_id, commit.endpoint_name],
        )
