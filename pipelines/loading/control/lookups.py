"""What the source was asked for by id: when, and whether it was there."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import polars as pl

from pipelines.core.pages import Changes
from pipelines.core.steps import MissingRecords
from pipelines.loading.connection import same_key
from pipelines.loading.context import Commit, added, counted, frame_of, registered_frames
from pipelines.loading.control import restatements
from pipelines.loading.instants import INSTANT
from pipelines.loading.versions import mark_deleted


def keep_read(commit: Commit, frame: pl.DataFrame) -> None:
    """These ids were read: `frame` has `practice_id`, `id` and `_loaded_at`."""
    read = frame.select("practice_id", "id", read_at="_loaded_at")
    _replace(commit, "control.lookups", read)
    _remove(commit, "control.missing_records", read)
    _remove(commit, "control.mentions", read)


def keep_looks(commit: Commit, practice_id: str, ids: Sequence[str], read_at: datetime) -> None:
    """These ids were asked for, whatever the answer was."""
    _replace(commit, "control.lookups", _asked({(practice_id, item): read_at for item in ids}))


def keep_missing(commit: Commit, saves: Sequence[tuple[str, MissingRecords]]) -> dict[str, Changes]:
    """The source does not have these ids: remembered, and where they are in raw they are marked as deleted."""
    ids = {(practice_id, str(item)): save.read_at for practice_id, save in saves for item in save.ids}
    if not ids:
        return {}
    missing = _asked(ids)
    _replace(commit, "control.missing_records", missing)
    _remove(commit, "control.lookups", missing)
    _remove(commit, "control.mentions", missing)
    with registered_frames(commit.connection, missing=missing):
        gone = frame_of(
            commit.connection,
            "select stored.rowid as _target, stored.practice_id, stored.id, missing.read_at as _deleted_at"
            f" from {commit.table.raw} as stored join missing on {same_key('stored', 'missing', ('id',))}"
            " where stored._deleted_at is null",
        )
    mark_deleted(commit, gone.select("_target", "_deleted_at"))
    found = gone.select("practice_id", "id", noticed_at="_deleted_at")
    return added([counted(deleted=gone), restatements.record_restatements(commit, found, ("id",))])


def _asked(ids: Mapping[tuple[str, str], datetime]) -> pl.DataFrame:
    """Practice and id, and when the source was asked for it."""
    rows = [(*key, read_at) for key, read_at in ids.items()]
    return pl.DataFrame(rows, {"practice_id": pl.String, "id": pl.String, "read_at": INSTANT}, orient="row")


def _replace(commit: Commit, table: str, rows: pl.DataFrame) -> None:
    _remove(commit, table, rows)
    with registered_frames(commit.connection, rows=rows):
        commit.connection.execute(
            f"insert into {table} by name select ? as endpoint, rows.* from rows", [commit.endpoint_name]
        )


def _remove(commit: Commit, table: str, rows: pl.DataFrame) -> None:
    with registered_frames(commit.connection, rows=rows):
        commit.connection.execute(
            f"delete from {table} as known using rows where {same_key('known', 'rows', ('id',))} and endpoint = ?",
            [commit.endpoint_name],
        )
