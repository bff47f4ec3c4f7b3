"""The rows of `raw.phone_calls`: how new ones get there, and what the matching needs of those that are there."""

import polars as pl

from pipelines.loading.connection import quoted
from pipelines.loading.context import Commit, frame_of, registered_frames
from pipelines.loading.control import dirty_days, state
from pipelines.loading.frames import EXTRA
from pipelines.loading.phone_calls.keys import call_key, practice_salt
from pipelines.loading.phone_calls.matching import DETAILS, SAME_ROW
from pipelines.loading.tables import row_hash
from pipelines.loading.versions import TARGET


def append(commit: Commit, rows: pl.DataFrame) -> None:
    """Insert calls that are new. Hash and key are made on the way, so that a first load reads its rows once."""
    if rows.is_empty():
        return
    own = ", ".join(f"fresh.{quoted(name)}" for name in rows.columns if not name.startswith("_"))
    salt = practice_salt(state.salt(commit.connection, commit.practice_id), commit.practice_id)
    dirty_days.note_new(commit, rows)
    with registered_frames(commit.connection, fresh=rows):
        commit.connection.execute(
            f"insert into {commit.table.raw} by name"
            f" select $practice as practice_id, {own}, {call_key('fresh')} as call_key, fresh._loaded_at,"
            f" $run as _run_id, {row_hash(commit.table.hashed, 'fresh')} as _row_hash, fresh.{EXTRA} from fresh",
            {"practice": commit.practice_id, "run": commit.run_id, "salt": salt},
        )


def with_row_hash(commit: Commit, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the columns of the CSV, and their `_row_hash`."""
    numbered = rows.with_row_index("_row")
    with registered_frames(commit.connection, numbered=numbered):
        hashes = frame_of(
            commit.connection,
            f"select _row, {row_hash(commit.table.hashed, 'numbered')} as _row_hash from numbered",
        )
    return numbered.join(hashes, on="_row", how="left", maintain_order="left").drop("_row")


def stored_rows(commit: Commit, days: pl.DataFrame) -> pl.DataFrame:
    """All rows of these days (`call_date`), deleted ones too, with the columns of `matching.STORED`."""
    own = ", ".join(quoted(name) for name in ("call_key", *DETAILS, *SAME_ROW))
    with registered_frames(commit.connection, days=days):
        return frame_of(
            commit.connection,
            f"select stored.rowid as {TARGET}, {own}, _deleted_at is not null as _deleted,"
            f" called_at as _stored_called_at, {EXTRA}::varchar as _stored_extra"
            f" from {commit.table.raw} as stored semi join days using (call_date) where practice_id = $practice",
            params={"practice": commit.practice_id},
        )


def forget_details(commit: Commit, rows: pl.DataFrame) -> None:
    """The details of these rows (`_target`) may be another call's: they will be read again."""
    if rows.is_empty():
        return
    nothing = ", ".join(f"{name} = null" for name in DETAILS)
    dirty_days.note_stored(commit, rows)
    with registered_frames(commit.connection, doubtful=rows):
        commit.connection.execute(
            f"update {commit.table.raw} as stored set {nothing}, _run_id = ?"
            " from doubtful where stored.rowid = doubtful._target",
            [commit.run_id],
        )
