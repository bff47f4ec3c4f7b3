"""Merging rows by key: of two versions the later stays, unchanged rows are not written at all."""

from collections.abc import Sequence

import polars as pl

from pipelines.core.endpoint import NewestFirst
from pipelines.core.pages import Changes, Row
from pipelines.core.steps import MergeRows
from pipelines.loading import drift
from pipelines.loading.connection import quoted
from pipelines.loading.context import Commit, frame_of, registered_frames
from pipelines.loading.control import lookups, quarantine, restatements
from pipelines.loading.frames import EXTRA, POSITION, Shape, typed
from pipelines.loading.instants import INSTANT
from pipelines.loading.tables import row_hash
from pipelines.loading.versions import TARGET, touch, write

_SEALED = "_sealed_before"


def merge_rows(commit: Commit, saves: Sequence[MergeRows]) -> Changes:
    """Merge all rows of these saves at once.

    A version with an older `updated_at` than another never replaces it; between equals, and where there is no
    `updated_at`, the later read wins.
    """
    rows: list[Row] = [row for save in saves for row in save.rows]
    if not rows:
        return Changes()
    endpoint = commit.table.endpoint
    batch = typed(rows, Shape(commit.table.columns, endpoint.key, endpoint.record))
    quarantine.quarantine_rows(commit, batch.bad)
    departures = [*drift.new_fields(batch.new_fields), *drift.new_values(batch.frame, commit.table.columns)]
    drift_notes = drift.record_drift(commit, departures)
    latest = _latest(commit, _with_read_times(batch.frame, saves))
    quarantine.resolve_keys(commit, _key_text(latest, endpoint.key))
    if not endpoint.strategy.has_list:
        lookups.keep_read(commit, latest)
    return _store(commit, latest) + Changes(quarantined=len(batch.bad), drift=drift_notes)


def _with_read_times(frame: pl.DataFrame, saves: Sequence[MergeRows]) -> pl.DataFrame:
    """Each row with the read that brought it: `_loaded_at`, and the seal that it may have come late for."""
    reads = pl.DataFrame(
        {
            "_loaded_at": pl.Series([save.read_at for save in saves], dtype=INSTANT),
            _SEALED: pl.Series([save.sealed_before for save in saves], dtype=INSTANT),
            "_save": range(len(saves)),
        }
    )
    of_row = pl.Series([index for index, save in enumerate(saves) for _ in save.rows], dtype=pl.Int64)
    return (
        frame.with_columns(_save=of_row.gather(frame[POSITION])).join(reads, on="_save", how="left").drop("_save")
    )


def _latest(commit: Commit, frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each key: the one with the latest `updated_at`, else the latest read."""
    order = ["updated_at", "_loaded_at", POSITION] if commit.table.has("updated_at") else ["_loaded_at", POSITION]
    ordered = frame.sort(order, nulls_last=True)
    return ordered.unique(commit.table.endpoint.key, keep="last", maintain_order=True)


def _key_text(frame: pl.DataFrame, key: tuple[str, ...]) -> pl.Series:
    return frame.select(pl.concat_str([pl.col(name).cast(pl.String) for name in key], separator="/"))[:, 0]


def _store(commit: Commit, incoming: pl.DataFrame) -> Changes:
    verdicts = _compared(commit, incoming)
    rows = incoming.join(verdicts, on=POSITION)
    changed = pl.col("_stored_hash").ne_missing(pl.col("_row_hash"))
    newer = ~pl.col("_outdated")
    written = rows.filter(changed & newer)
    same = rows.filter(~changed)
    touched = same.filter(pl.col("_was_deleted") | pl.col("_extra_differs"))
    own = [column.name for column in commit.table.columns]
    write(commit, written.select(*own, EXTRA, "_loaded_at", "_row_hash", TARGET))
    touch(commit, touched.select(TARGET, "_loaded_at", EXTRA))
    inserted = written[TARGET].null_count()
    restated = _restated(commit, written)
    return Changes(
        inserted=inserted,
        updated=written.height - inserted + touched.height,
        unchanged=rows.height - written.height - touched.height,
        late=restated.height if commit.table.has("updated_at") else 0,
        restated=restatements.record_restatements(commit, restated, commit.table.endpoint.key),
    )


def _compared(commit: Commit, incoming: pl.DataFrame) -> pl.DataFrame:
    """What each incoming row meets in the raw table."""
    match = " and ".join(f"stored.{quoted(name)} = fresh.{quoted(name)}" for name in commit.table.endpoint.key)
    status = "stored.status" if commit.table.has("status") else "null::varchar"
    outdated = "stored.updated_at > fresh.updated_at" if commit.table.has("updated_at") else "false"
    with registered_frames(commit.connection, incoming=incoming):
        return frame_of(
            commit.connection,
            f"with fresh as (select *, {row_hash(commit.table.hashed, 'incoming')} as _row_hash from incoming)"
            f" select fresh.{POSITION}, fresh._row_hash, stored.rowid as {TARGET},"
            f" stored._row_hash as _stored_hash, coalesce({outdated}, false) as _outdated,"
            " coalesce(stored._deleted_at is not null, false) as _was_deleted,"
            f" stored.{EXTRA} is distinct from fresh.{EXTRA} as _extra_differs, {status} as _stored_status"
            f" from fresh left join {commit.table.raw} as stored on {match} and stored.practice_id = $practice",
            params={"practice": commit.practice_id},
        )


def _restated(commit: Commit, written: pl.DataFrame) -> pl.DataFrame:
    """The keys of written rows that should have been known as they are, and when they were read.

    A row is restated where it was last changed before the seal of its window; without `updated_at`, where it
    leaves a status that was final.
    """
    strategy = commit.table.endpoint.strategy
    if commit.table.has("updated_at"):
        unexpected = pl.col("updated_at") < pl.col(_SEALED)
    elif isinstance(strategy, NewestFirst):
        unexpected = pl.col(TARGET).is_not_null() & ~pl.col("_stored_status").is_in(list(strategy.open_statuses))
    else:
        unexpected = pl.lit(value=False)
    return written.filter(unexpected).select(*commit.table.endpoint.key, noticed_at="_loaded_at")
