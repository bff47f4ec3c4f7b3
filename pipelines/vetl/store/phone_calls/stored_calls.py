"""Insert new rows into `raw.phone_calls`, and read the stored rows that the matching needs.

Match two sets of calls row by row as multisets: equal rows are interchangeable.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from vetl.store.commit import Commit, frame_of, registered_frames
from vetl.store.connection import quoted
from vetl.store.control import state
from vetl.store.frames import EXTRA
from vetl.store.merge import TARGET, update
from vetl.store.phone_calls.json_calls import merged_extra
from vetl.store.pseudonyms import NAMES, WORDS
from vetl.store.tables import row_hash

ORDINAL = "_ordinal"
IDENTITY = ("practice_id", "called_at_local", "direction", "phone_number")
"""Calls that agree in these columns differ by their ordinal only."""
_NTH = "_nth"


class Matched(NamedTuple):
    """`pairs` has the columns of both sides; `left` and `right` are the rows without a partner, in order."""

    pairs: pl.DataFrame
    left: pl.DataFrame
    right: pl.DataFrame


def pair(left: pl.DataFrame, right: pl.DataFrame, on: Sequence[str]) -> Matched:
    """Pair rows that agree in `on` (null agrees with null) in their order: the first with the first, and so on.

    The two sides must not share the name of any other column.
    """
    nth = pl.int_range(pl.len()).over(on).alias(_NTH)
    numbered_left, numbered_right = left.with_columns(nth), right.with_columns(nth)
    keys = [*on, _NTH]
    pairs = numbered_left.join(numbered_right, on=keys, nulls_equal=True, maintain_order="left_right").drop(_NTH)
    rest_left = numbered_left.join(numbered_right, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    rest_right = numbered_right.join(numbered_left, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    return Matched(pairs, rest_left.drop(_NTH), rest_right.drop(_NTH))


DETAILS = ("id", "created_at", "client_id", "remote_client_id", "patient_id", "remote_patient_id")
"""Columns of a call that only the JSON list has."""

SAME_CALL = ("call_date", *IDENTITY)
SAME_ROW = ("_row_hash", *SAME_CALL)


@dataclass(frozen=True, slots=True)
class DayChanges:
    """The changes that turn stored days into the days that were read.

    `new` rows have an `_ordinal`. `changed` rows have a `_target`, their key and the details that they keep.
    `touched` rows are equal, but were marked as deleted or had other unknown fields. `gone` rows are missing at
    the source. The details of `doubtful` rows may belong to another call.
    """

    new: pl.DataFrame
    changed: pl.DataFrame
    touched: pl.DataFrame
    gone: pl.DataFrame
    doubtful: pl.DataFrame
    unchanged: pl.DataFrame


def compare(stored: pl.DataFrame, fresh: pl.DataFrame, new_fields: Collection[str] = ()) -> DayChanges:
    """Match stored rows (those of `stored_rows`) with the rows that were read (all columns).

    `new_fields` are the CSV's undeclared columns; undeclared fields from the JSON list are kept beside them.
    """
    # By the content before the key, whose order differs between practices.
    ordered = stored.sort("_deleted", "_stored_called_at", "created_at", "_row_hash", "call_key")
    equal = pair(ordered, fresh, SAME_ROW)
    left = equal.left.rename({"_row_hash": "_stored_hash"})
    changed = pair(left, equal.right, SAME_CALL)
    same = _with_extra(equal.pairs, new_fields)
    touched = same.filter(pl.col("_deleted") | pl.col("_stored_extra").ne_missing(pl.col(EXTRA)))
    return DayChanges(
        new=_numbered(changed.right, stored),
        changed=_with_details(changed, left, equal.right, new_fields),
        touched=touched.select("practice_id", TARGET, "_loaded_at", EXTRA),
        gone=changed.left.filter(~pl.col("_deleted")).select(TARGET, "practice_id", "call_date"),
        doubtful=_doubtful(equal),
        unchanged=same.join(touched, on=TARGET, how="anti").select("practice_id"),
    )


def with_ordinals(calls: pl.DataFrame) -> pl.DataFrame:
    """Number the calls of one identity, in the frame's order, from 0."""
    # Few calls share an identity. One hash finds the candidates; only these are grouped by four columns.
    hashes = calls.select(pl.struct(IDENTITY).hash()).to_series()
    crowded = calls.select(IDENTITY).with_row_index("_row").filter(hashes.is_duplicated())
    nth = crowded.select("_row", pl.int_range(pl.len()).over(IDENTITY).alias(ORDINAL))
    ordinals = pl.zeros(calls.height, dtype=pl.Int64, eager=True).scatter(nth["_row"], nth[ORDINAL])
    return calls.with_columns(ordinals.alias(ORDINAL))


def _numbered(new: pl.DataFrame, stored: pl.DataFrame) -> pl.DataFrame:
    """Number new calls after the stored ones, deleted calls included, so that no key is used twice."""
    taken = stored.group_by(IDENTITY).agg(_taken=pl.len())
    joined = new.join(taken, on=IDENTITY, how="left", nulls_equal=True, maintain_order="left")
    return with_ordinals(joined).with_columns(pl.col(ORDINAL) + pl.col("_taken").fill_null(0)).drop("_taken")


def _with_extra(pairs: pl.DataFrame, new_fields: Collection[str]) -> pl.DataFrame:
    return pairs.with_columns(merged_extra(pairs["_stored_extra"], pairs[EXTRA], new_fields).alias(EXTRA))


def _with_details(
    changed: Matched, left: pl.DataFrame, right: pl.DataFrame, new_fields: Collection[str]
) -> pl.DataFrame:
    """Return the changed rows; they keep their details only if each side has a single candidate."""
    stored = left.select(TARGET, _candidates=pl.len().over(*IDENTITY, "_deleted"))
    fresh = right.group_by(IDENTITY).agg(_rivals=pl.len())
    rows = changed.pairs.join(stored, on=TARGET, how="left").join(fresh, on=IDENTITY, how="left", nulls_equal=True)
    certain = (pl.col("_candidates") == 1) & (pl.col("_rivals") == 1)
    details = [pl.when(certain).then(pl.col(name)) for name in DETAILS]
    rows = _with_extra(rows.with_columns(_stored_extra=pl.when(certain).then("_stored_extra")), new_fields)
    exact = certain & pl.col("created_at").is_not_null()
    called_at = pl.when(exact).then(pl.col("_stored_called_at")).otherwise(pl.col("called_at"))
    rows = rows.with_columns(called_at.alias("called_at"), *details)
    return rows.select(
        pl.exclude("_candidates", "_rivals", "_deleted", "_stored_called_at", "_stored_extra", "_stored_hash")
    )


def _doubtful(equal: Matched) -> pl.DataFrame:
    """Return rows with details if an equal row is gone: the details may belong to the row that is gone."""
    same = ["practice_id", "_row_hash", "_deleted"]
    return equal.pairs.filter(pl.col("id").is_not_null()).join(equal.left, on=same, how="semi").select(TARGET)


_SALT = "_salt"


def append(commit: Commit, rows: pl.DataFrame) -> None:
    """Insert new calls. The statement computes hash and key itself, so that a first load reads its rows once."""
    if rows.is_empty():
        return
    own = ", ".join(f"fresh.{quoted(name)}" for name in rows.columns if not name.startswith("_"))
    secret = state.salt(commit.connection)
    practices = rows["practice_id"].unique()
    salts = {name: hashlib.sha256(f"{secret}/{name}".encode()).hexdigest()[:20] for name in practices}
    salted = rows.with_columns(pl.col("practice_id").replace_strict(salts, return_dtype=pl.String).alias(_SALT))
    state.note_new(commit, rows)
    with registered_frames(commit.connection, fresh=salted):
        commit.connection.execute(
            f"insert into {commit.table.raw} by name"
            f" select {own}, {_call_key('fresh')} as call_key, fresh._loaded_at,"
            f" ? as _run_id, {row_hash(commit.table.hashed, 'fresh')} as _row_hash, fresh.{EXTRA} from fresh",
            [commit.run_id],
        )


def _call_key(source: str) -> str:
    """Return SQL for the `call_key` of the rows named `source`, which have the practice's salt in `_salt`.

    Without the salt, trying all phone numbers would reveal the number behind a published key. Salt and text fit
    one block of MD5, which keeps the cost of a key minimal.
    """
    minute = f"epoch_us({source}.called_at_local) // 60000000"
    parts = (minute, f"{source}.direction", f"{source}.phone_number", f"{source}.{ORDINAL}")
    text = ", '|', ".join(f"coalesce(cast({part} as varchar), '')" for part in parts)
    return f"left(md5(concat({source}.{_SALT}, {text})), 16)"


def stored_rows(commit: Commit, days: pl.DataFrame) -> pl.DataFrame:
    """Return all rows of these days, deleted rows included, with the columns that `compare` needs."""
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
    update(commit, rows, ", ".join(f"{name} = null" for name in DETAILS))


def empty_words(commit: Commit, rows: pl.DataFrame) -> None:
    """Take names and words out of these calls (`_target`), which turned out to be a forgotten client's."""
    emptied = ", ".join(f"{name} = null" for name in (*NAMES, *WORDS) if name == EXTRA or commit.table.has(name))
    for values in (emptied, f"_row_hash = {row_hash(commit.table.hashed, 'stored')}"):
        update(commit, rows.select(TARGET), values)
