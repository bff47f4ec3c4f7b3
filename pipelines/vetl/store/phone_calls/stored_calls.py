"""Insert new rows into `raw.phone_calls`, and read the stored rows that the matching needs."""

import hashlib

import polars as pl

from vetl.store.connection import quoted
from vetl.store.context import Commit, frame_of, registered_frames
from vetl.store.control import builds, state
from vetl.store.frames import EXTRA
from vetl.store.merge import TARGET
from vetl.store.phone_calls.matching import DETAILS, ORDINAL, SAME_ROW
from vetl.store.pseudonyms import NAMES, WORDS
from vetl.store.tables import row_hash

_SALT = "_salt"


def append(commit: Commit, rows: pl.DataFrame) -> None:
    """Insert new calls. The statement computes hash and key itself, so that a first load reads its rows once."""
    if rows.is_empty():
        return
    own = ", ".join(f"fresh.{quoted(name)}" for name in rows.columns if not name.startswith("_"))
    secret = state.salt(commit.connection)
    salts = {practice_id: _practice_salt(secret, practice_id) for practice_id in rows["practice_id"].unique()}
    salted = rows.with_columns(pl.col("practice_id").replace_strict(salts, return_dtype=pl.String).alias(_SALT))
    builds.note_new(commit, rows)
    with registered_frames(commit.connection, fresh=salted):
        commit.connection.execute(
            f"insert into {commit.table.raw} by name"
            f" select {own}, {_call_key('fresh')} as call_key, fresh._loaded_at,"
            f" ? as _run_id, {row_hash(commit.table.hashed, 'fresh')} as _row_hash, fresh.{EXTRA} from fresh",
            [commit.run_id],
        )


def _practice_salt(salt: str, practice_id: str) -> str:
    """Return the secret part of the call keys of one practice."""
    return hashlib.sha256(f"{salt}/{practice_id}".encode()).hexdigest()[:20]


def _call_key(source: str) -> str:
    """Return SQL for the `call_key` of the rows named `source`, which have the practice's salt in `_salt`.

    Without the salt, trying all phone numbers would reveal the number behind a published key. Salt and text fit
    one block of MD5, which keeps the cost of a key minimal.
    """
    minute = f"epoch_us({source}.called_at_local) // 60000000"
    parts = (minute, f"{source}.direction", f"{source}.phone_number", f"{source}.{ORDINAL}")
    text = ", '|', ".join(f"coalesce(cast({part} as varchar), '')" for part in parts)
    return f"left(md5(concat({source}.{_SALT}, {text})), 16)"


def with_row_hash(commit: Commit, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows that have the CSV's columns with their `_row_hash`."""
    numbered = rows.with_row_index("_row")
    with registered_frames(commit.connection, numbered=numbered):
        hashes = frame_of(
            commit.connection,
            f"select _row, {row_hash(commit.table.hashed, 'numbered')} as _row_hash from numbered",
        )
    return numbered.join(hashes, on="_row", how="left", maintain_order="left").drop("_row")


def stored_rows(commit: Commit, days: pl.DataFrame) -> pl.DataFrame:
    """Return all rows of these days, deleted rows included, with the columns of `matching.STORED`."""
    own = ", ".join(quoted(name) for name in ("call_key", *DETAILS, *SAME_ROW))
    with registered_frames(commit.connection, days=days):
        return frame_of(
            commit.connection,
            f"select stored.rowid as {TARGET}, {own}, _deleted_at is not null as _deleted,"
            f" called_at as _stored_called_at, {EXTRA}::varchar as _stored_extra"
            f" from {commit.table.raw} as stored semi join days using (practice_id, call_date)",
        )


def clear_details(commit: Commit, rows: pl.DataFrame) -> None:
    """Clear the details of these rows (`_target`), which may belong to another call; they are read again."""
    if rows.is_empty():
        return
    nothing = ", ".join(f"{name} = null" for name in DETAILS)
    builds.note_stored(commit, rows)
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
