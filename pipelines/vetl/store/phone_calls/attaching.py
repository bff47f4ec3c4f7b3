"""Attach to calls the columns that only the JSON list has: ids, exact times, clients and patients.

Each JSON record is converted into its CSV row, and records and stored rows are matched as multisets: identical
rows are interchangeable in the CSV, but both ids are kept.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import polars as pl

from vetl.core.pages import Changes
from vetl.core.steps import AttachDetails
from vetl.store import merge
from vetl.store.context import Commit, added, registered_frames
from vetl.store.control import bad_rows, marks
from vetl.store.frames import EXTRA
from vetl.store.instants import days_between, local_minutes
from vetl.store.merge import TARGET
from vetl.store.phone_calls.json_calls import as_csv_rows, grouped_by_new_fields, merged_extra, read_records, shape
from vetl.store.phone_calls.stored_calls import (
    DETAILS,
    SAME_CALL,
    SAME_ROW,
    clear_details,
    empty_words,
    only_one,
    pair,
    stored_rows,
    with_row_hash,
)
from vetl.store.pseudonyms import IDS

_ENOUGH = 5
"""Unmatched calls on both sides from which on, if they are the majority, the time zone is doubtful."""

ID = ("practice_id", "id")

_BEFORE = {name: f"_stored_{name}" for name in DETAILS}


Saves = Sequence[tuple[str, AttachDetails]]
"""Saves, each with the id of its practice."""


def attach_details(commit: Commit, saves: Saves) -> dict[str, Changes]:
    """Attach details from JSON rows to the calls of their days. No version is made: ids are not in the hash."""
    declared = {column.name for column in shape(commit).columns}
    groups = grouped_by_new_fields(
        saves, lambda save: {name for row in save.rows for name in row}.difference(declared)
    )
    return added(_attach_details(commit, group, new_fields) for new_fields, group in groups)


def _attach_details(commit: Commit, saves: Saves, new_fields: frozenset[str]) -> dict[str, Changes]:
    practices = [practice_id for practice_id, save in saves for _ in save.rows]
    batch = read_records(commit, [row for _, save in saves for row in save.rows], practices)
    quarantined = bad_rows.quarantine_rows(commit, batch.bad)
    bad_rows.resolve_keys(commit, batch.frame, ("id",))
    departures = [*merge.new_fields(batch.new_fields), *merge.new_values(batch.frame, shape(commit).columns)]
    records = _as_calls(commit, batch.frame.unique(ID, keep="last", maintain_order=True))
    stored = stored_rows(commit, _days(saves)).rename(_BEFORE)
    live = stored.filter(~pl.col("_deleted")).drop("_deleted")
    pairs = matched(live, records)
    doubtful = _with_a_doubtful_zone(live, records, pairs)
    departures += [(practice_id, _doubtful_zone(commit.zones[practice_id])) for practice_id in doubtful]
    _attach(commit, stored, pairs, new_fields)
    return added([quarantined, merge.record_drift(commit, departures)])


def _days(saves: Saves) -> pl.DataFrame:
    days = {(of, day) for of, save in saves for day in days_between(save.first_day, save.last_day)}
    return pl.DataFrame(sorted(days), {"practice_id": pl.String(), "call_date": pl.Date()}, orient="row")


def _as_calls(commit: Commit, records: pl.DataFrame) -> pl.DataFrame:
    """Return JSON records with their details and the columns that identify them as CSV rows."""
    rendered = pl.concat([records.select(*DETAILS, EXTRA), as_csv_rows(commit, records)], how="horizontal")
    return with_row_hash(commit, rendered).select(*DETAILS, EXTRA, *SAME_ROW)


def matched(stored: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Match records with stored calls; return one row for each pair, with the columns of both.

    The matches in order: equal rows that have this id already; equal rows, with records whose id is new first for
    calls without an id; the id alone, for a call that changed between the two reads; minute, direction and phone
    number, if these are unique on both sides.
    """
    settled = pair(stored.with_columns(id="_stored_id"), records, ["id", *SAME_ROW])
    stored_ids = stored.select("practice_id", "_stored_id").filter(pl.col("_stored_id").is_not_null())
    is_known_id = pl.struct(ID).is_in(
        stored_ids.select(pl.struct("practice_id", id="_stored_id")).to_series().implode()
    )
    calls = settled.left.sort(pl.col("_stored_id").is_not_null(), "_stored_called_at", "call_key")
    equal = pair(calls.drop("id"), settled.right.sort(is_known_id, "created_at", "id"), SAME_ROW)
    by_id = pair(
        equal.left.with_columns(id="_stored_id").filter(pl.col("id").is_not_null()),
        equal.right.drop(name for name in SAME_ROW if name not in ID),
        ID,
    )
    left = equal.left.join(by_id.pairs, on=TARGET, how="anti").drop("_row_hash")
    right = equal.right.join(by_id.pairs, on=ID, how="anti").drop("_row_hash")
    likely = pair(only_one(left, SAME_CALL), only_one(right, SAME_CALL), SAME_CALL)
    return pl.concat([settled.pairs, equal.pairs, by_id.pairs, likely.pairs], how="diagonal")


def _attach(commit: Commit, stored: pl.DataFrame, pairs: pl.DataFrame, new_fields: Collection[str]) -> None:
    minute = pl.col("created_at").dt.truncate("1m")
    minutes = local_minutes(pairs["created_at"], pairs["practice_id"], commit.zones)
    is_same_minute = minutes == pairs["called_at_local"]
    rows = pairs.with_columns(
        merged_extra(pairs["_stored_extra"], pairs[EXTRA], new_fields).alias(EXTRA),
        called_at=pl.when(is_same_minute).then(minute).otherwise(pl.col("_stored_called_at")),
    )
    differs = pl.any_horizontal(
        pl.col("called_at").ne_missing(pl.col("_stored_called_at")),
        pl.col(EXTRA).ne_missing(pl.col("_stored_extra")),
        *(pl.col(name).ne_missing(pl.col(before)) for name, before in _BEFORE.items()),
    )
    attached = rows.filter(differs).select("practice_id", TARGET, "called_at", EXTRA, *DETAILS)
    if attached.is_empty():
        return
    marks.record_mentions(commit, attached)
    marks.note_stored(commit, attached)
    # An id belongs to one call: clear it from the call that had it before.
    before = stored.join(pairs, on=TARGET, how="anti").join(
        attached, left_on=("practice_id", "_stored_id"), right_on=ID, how="semi"
    )
    clear_details(commit, before.select(TARGET))
    values = ", ".join(f"{name} = attached.{name}" for name in ("called_at", EXTRA, *DETAILS))
    with registered_frames(commit.connection, attached=attached):
        commit.connection.execute(
            f"update {commit.table.raw} as stored set {values}, _run_id = ?"
            " from attached where stored.rowid = attached._target",
            [commit.run_id],
        )
    pseudonyms = commit.pseudonyms.of_practices(attached["practice_id"].unique())
    if pseudonyms:
        empty_words(commit, attached.filter(pl.any_horizontal(pl.col(name).is_in(pseudonyms) for name in IDS)))


def _with_a_doubtful_zone(stored: pl.DataFrame, records: pl.DataFrame, pairs: pl.DataFrame) -> list[str]:
    """Return the practices in which most calls of the JSON list match no stored call."""
    here, listed, paired = (Counter(frame["practice_id"]) for frame in (stored, records, pairs))
    alone = {
        practice_id: min(here[practice_id], listed[practice_id]) - paired[practice_id] for practice_id in listed
    }
    return [name for name, count in alone.items() if count >= _ENOUGH and count > paired[name]]


def _doubtful_zone(time_zone: str) -> merge.Drift:
    doubt = f"most calls of the JSON list have no counterpart in the CSV in {time_zone}: is the time zone right?"
    return merge.Drift("time_zone", "created_at", doubt)
