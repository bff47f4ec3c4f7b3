"""The rows of `raw.phone_calls`: how new ones get there, and what the matching needs of those that are there."""

import hashlib

import polars as pl

from pipelines.loading.connection import quoted
from pipelines.loading.context import Commit, frame_of, registered_frames
from pipelines.loading.control import dirty_days, state
from pipelines.loading.frames import EXTRA
from pipelines.loading.phone_calls.matching import DETAILS, ORDINAL, SAME_ROW
from pipelines.loading.pseudonyms import NAMES, WORDS
from pipelines.loading.tables import row_hash
from pipelines.loading.versions import TARGET

_SALT = "_salt"


def append(commit: Commit, rows: pl.DataFrame) -> None:
    """Insert calls that are new. Hash and key are made on the way, so that a first load reads its rows once."""
    if rows.is_empty():
        return
    own = ", ".join(f"fresh.{quoted(name)}" for name in rows.columns if not name.startswith("_"))
    secrets = state.salts(commit.connection, rows["practice_id"].unique())
    salts = {practice_id: _practice_salt(secret, practice_id) for practice_id, secret in secrets.items()}
    salted = rows.with_columns(pl.col("practice_id").replace_strict(salts, return_dtype=pl.String).alias(_SALT))
    dirty_days.note_new(commit, rows)
    with registered_frames(commit.connection, fresh=salted):
        commit.connection.execute(
            f"insert into {commit.table.raw} by name"
            f" select {own}, {_call_key('fresh')} as call_key, fresh._loaded_at,"
            f" ? as _run_id, {row_hash(commit.table.hashed, 'fresh')} as _row_hash, fresh.{EXTRA} from fresh",
            [commit.run_id],
        )


def _practice_salt(salt: str, practice_id: str) -> str:
    """The secret that goes into the keys of one practice's calls."""
    return hashlib.sha256(f"{salt}/{practice_id}".encode()).hexdigest()[:20]


def _call_key(source: str) -> str:
    """SQL for `call_key`, of the rows named `source`, with the practice's salt as column `_salt`.

    The salt keeps a published key from being traced back to a phone number by trying them all. With it the
    text fits one block of MD5, so that a key costs as little as it can.
    """
    minute = f"epoch_us({source}.called_at_local) // 60000000"
    parts = (minute, f"{source}.direction", f"{source}.phone_number", f"{source}.{ORDINAL}")
    text = ", '|', ".join(f"coalesce(cast({part} as varchar), '')" for part in parts)
    return f"left(md5(concat({source}.{_SALT}, {text})), 16)"


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
    """All rows of these days of practices, deleted ones too, with the columns of `matching.STORED`."""
    own = ", ".join(quoted(name) for name in ("call_key", *DETAILS, *SAME_ROW))
    with registered_frames(commit.connection, days=days):
        return frame_of(
            commit.connection,
            f"select stored.rowid as {TARGET}, {own}, _deleted_at is not null as _deleted,"
            f" called_at as _stored_called_at, {EXTRA}::varchar as _stored_extra"
            f" from {commit.table.raw} as stored semi join days using (practice_id, call_date)",
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


def empty_words(commit: Commit, rows: pl.DataFrame) -> None:
    """Take names and words out of these calls (`_target`), which turned out to be a forgotten client's."""
    if rows.is_empty():
        return
    emptied = ", ".join(f"{name} = null" for name in (*NAMES, *WORDS) if name == EXTRA or commit.table.has(name))
    with registered_frames(commit.connection, own=rows.select(TARGET)):
        for values in (emptied, f"_row_hash = {row_hash(commit.table.hashed, 'stored')}"):
            commit.connection.execute(
                f"update {commit.table.raw} as stored set {values} from own where stored.rowid = own._target"
            )
