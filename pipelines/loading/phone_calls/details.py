"""Attaching to calls what only the JSON list tells: ids, exact times, clients and patients.

Each JSON record is seen as the row that the CSV makes of it, and the two are matched as multisets: identical
rows are interchangeable in the CSV, but both ids are kept.
"""

from collections.abc import Collection, Sequence

import polars as pl

from pipelines.core.pages import Changes
from pipelines.core.steps import AttachDetails
from pipelines.loading import drift
from pipelines.loading.context import Commit, registered_frames
from pipelines.loading.control import dirty_days, mentions, quarantine
from pipelines.loading.extras import together
from pipelines.loading.frames import EXTRA
from pipelines.loading.phone_calls.matching import DETAILS, SAME_CALL, SAME_ROW, only_one, pair
from pipelines.loading.phone_calls.records import as_csv_rows, read_records, shape
from pipelines.loading.phone_calls.rows import forget_details, stored_rows, with_row_hash
from pipelines.loading.phone_calls.times import days_between, local_minute
from pipelines.loading.versions import TARGET

_ENOUGH = 5
"""So many calls without counterpart on both sides, if they are the greater part, make the zone doubtful."""

_BEFORE = {name: f"_stored_{name}" for name in DETAILS}


def attach_details(commit: Commit, saves: Sequence[AttachDetails]) -> Changes:
    """Attach what JSON rows tell to the calls of their days. Makes no version: ids are not in the hash."""
    if not saves:
        return Changes()
    batch = read_records(commit, [row for save in saves for row in save.rows])
    quarantine.quarantine_rows(commit, batch.bad)
    quarantine.resolve_keys(commit, batch.frame["id"])
    departures = [*drift.new_fields(batch.new_fields), *drift.new_values(batch.frame, shape(commit).columns)]
    records = _as_calls(commit, batch.frame.unique("id", keep="last", maintain_order=True))
    stored = stored_rows(commit, _days(saves)).rename(_BEFORE)
    live = stored.filter(~pl.col("_deleted")).drop("_deleted")
    pairs = matched(live, records)
    if _zone_is_doubtful(live, records, pairs):
        departures.append(_doubtful_zone(commit.time_zone))
    _attach(commit, stored, pairs, batch.new_fields)
    return Changes(quarantined=len(batch.bad), drift=drift.record_drift(commit, departures))


def _days(saves: Sequence[AttachDetails]) -> pl.DataFrame:
    days = {day for save in saves for day in days_between(save.first_day, save.last_day)}
    return pl.DataFrame({"call_date": sorted(days)}, schema={"call_date": pl.Date()})


def _as_calls(commit: Commit, records: pl.DataFrame) -> pl.DataFrame:
    """JSON records with what identifies them as rows of the CSV, and their details."""
    rendered = pl.concat([records.select(*DETAILS, EXTRA), as_csv_rows(commit, records)], how="horizontal")
    return with_row_hash(commit, rendered).select(*DETAILS, EXTRA, *SAME_ROW)


def matched(stored: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Which record is which stored call: one row for each pair, with the columns of both.

    First those that have this id already and look the same; then equal rows, where a record whose id is not
    held elsewhere goes to a call without id; then by id alone, for a call that changed between the two reads;
    then by minute, direction and phone number, where these occur once on either side.
    """
    settled = pair(stored.with_columns(id="_stored_id"), records, ["id", *SAME_ROW])
    held = pl.col("id").is_in(stored["_stored_id"].drop_nulls().to_list())
    calls = settled.left.sort(pl.col("_stored_id").is_not_null(), "_stored_called_at", "call_key")
    equal = pair(calls.drop("id"), settled.right.sort(held, "created_at", "id"), SAME_ROW)
    by_id = pair(
        equal.left.with_columns(id="_stored_id").filter(pl.col("id").is_not_null()),
        equal.right.drop(SAME_ROW),
        ["id"],
    )
    left = equal.left.join(by_id.pairs, on=TARGET, how="anti").drop("_row_hash")
    right = equal.right.join(by_id.pairs, on="id", how="anti").drop("_row_hash")
    likely = pair(only_one(left, SAME_CALL), only_one(right, SAME_CALL), SAME_CALL)
    return pl.concat([settled.pairs, equal.pairs, by_id.pairs, likely.pairs], how="diagonal")


def _attach(commit: Commit, stored: pl.DataFrame, pairs: pl.DataFrame, new_fields: Collection[str]) -> None:
    minute = pl.col("created_at").dt.truncate("1m")
    told = local_minute(pl.col("created_at"), commit.time_zone) == pl.col("called_at_local")
    rows = pairs.with_columns(
        together(pairs["_stored_extra"], pairs[EXTRA], new_fields).alias(EXTRA),
        called_at=pl.when(told).then(minute).otherwise(pl.col("_stored_called_at")),
    )
    differs = pl.any_horizontal(
        pl.col("called_at").ne_missing(pl.col("_stored_called_at")),
        pl.col(EXTRA).ne_missing(pl.col("_stored_extra")),
        *(pl.col(name).ne_missing(pl.col(before)) for name, before in _BEFORE.items()),
    )
    attached = rows.filter(differs).select(TARGET, "called_at", EXTRA, *DETAILS)
    if attached.is_empty():
        return
    mentions.record_mentions(commit, attached)
    dirty_days.note_stored(commit, attached)
    # An id belongs to one call: whoever held it before does not any more.
    before = stored.join(pairs, on=TARGET, how="anti").join(
        attached, left_on="_stored_id", right_on="id", how="semi"
    )
    forget_details(commit, before.select(TARGET))
    values = ", ".join(f"{name} = attached.{name}" for name in ("called_at", EXTRA, *DETAILS))
    with registered_frames(commit.connection, attached=attached):
        commit.connection.execute(
            f"update {commit.table.raw} as stored set {values}, _run_id = ?"
            " from attached where stored.rowid = attached._target",
            [commit.run_id],
        )


def _zone_is_doubtful(stored: pl.DataFrame, records: pl.DataFrame, pairs: pl.DataFrame) -> bool:
    alone = min(stored.height, records.height) - pairs.height
    return alone >= _ENOUGH and alone > pairs.height


def _doubtful_zone(time_zone: str) -> drift.Drift:
    told = f"most calls of the JSON list have no counterpart in the CSV in {time_zone}: is the time zone right?"
    return drift.Drift("time_zone", "created_at", told)
