"""Store received webhooks in raw: the first of equal deliveries stays, and a message only moves forward.

So storing the same deliveries again changes nothing, even after an interruption.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import polars as pl

from vetl.core.endpoint import Endpoint
from vetl.core.pages import Changes, Row
from vetl.core.steps import MissingRecords
from vetl.partner.webhooks import MESSAGE_ORDER, rank
from vetl.store import merge
from vetl.store.connection import quoted, same_key
from vetl.store.context import Commit, frame_of, registered_frames
from vetl.store.control import bad_rows, lookups
from vetl.store.control.bad_rows import BadRow
from vetl.store.frames import EXTRA, POSITION, Shape, typed
from vetl.store.merge import TARGET, mark_missing, write
from vetl.store.tables import row_hash


@dataclass(frozen=True, slots=True)
class Intake:
    """Rows for one table of one practice.

    `read_by_id`: the rows come from the platform's get endpoint, not from a webhook. `unknown_ids` are requested
    ids that the platform does not have. `settles` are keys in quarantine that are resolved if none of the rows is
    bad.
    """

    practice_id: str
    endpoint: Endpoint
    rows: Sequence[Row]
    read_at: datetime
    bad: Sequence[BadRow] = ()
    read_by_id: bool = False
    unknown_ids: Sequence[str] = ()
    settles: Sequence[str] = ()


def take_in(commit: Commit, intake: Intake) -> Changes:
    """Store one intake."""
    endpoint = commit.table.endpoint
    practices = [intake.practice_id] * len(intake.rows)
    batch = typed(
        intake.rows, Shape(commit.table.columns, endpoint.key, endpoint.record), practices, of_any_length=True
    )
    frame = commit.pseudonyms.in_rows(commit.table, batch.frame)
    bad = [*(replace(row, practice_id=intake.practice_id) for row in intake.bad), *batch.bad]
    departures = [*merge.new_fields(batch.new_fields), *merge.new_values(frame, commit.table.columns)]
    noted = [bad_rows.quarantine_rows(commit, bad), merge.record_drift(commit, departures)]
    incoming = frame.with_columns(_loaded_at=pl.lit(intake.read_at))
    bad_rows.resolve_keys(commit, incoming, endpoint.key)
    if intake.settles and not bad:
        settled = pl.DataFrame({"practice_id": intake.practice_id, "row_key": intake.settles})
        bad_rows.resolve_keys(commit, settled, ["row_key"])
    if endpoint.strategy.is_received:
        changes = _keep_first(commit, incoming)
    else:
        changes = _move_forward(commit, incoming, even_stays=not intake.read_by_id)
    if intake.read_by_id:
        lookups.keep_read(commit, incoming)
        mark_missing(commit, [(intake.practice_id, MissingRecords(intake.unknown_ids, intake.read_at))])
    return sum((tally[intake.practice_id] for tally in noted if tally), changes)


def _keep_first(commit: Commit, incoming: pl.DataFrame) -> Changes:
    key = list(commit.table.endpoint.key)
    first = incoming.sort(POSITION).unique(key, keep="first", maintain_order=True)
    new = first.join(_stored(commit, first), on=key, how="anti")
    _write_new(commit, new.with_columns(pl.lit(None, pl.Int64).alias(TARGET)))
    return Changes(inserted=new.height, unchanged=incoming.height - new.height)


def _move_forward(commit: Commit, incoming: pl.DataFrame, *, even_stays: bool) -> Changes:
    """Keep the most advanced status of each message; with `even_stays`, a stored row stays at an equal status."""
    furthest = incoming.sort(_rank("status"), -pl.col(POSITION)).unique("id", keep="last", maintain_order=True)
    compared = _hashed(commit, furthest).join(_stored(commit, furthest), on="id", how="left")
    ahead = _rank("status") > _rank("_stored_status")
    even = (_rank("status") == _rank("_stored_status")) & pl.lit(not even_stays)
    changed = pl.col("_row_hash").ne_missing(pl.col("_stored_hash"))
    written = compared.filter(pl.col(TARGET).is_null() | ((ahead | even) & changed))
    _write_new(commit, written)
    inserted = written[TARGET].null_count()
    return Changes(
        inserted=inserted,
        updated=written.height - inserted,
        unchanged=incoming.height - written.height,
    )


def _rank(column: str) -> pl.Expr:
    ranks = {status: rank(status) for status in MESSAGE_ORDER}
    return pl.col(column).replace_strict(ranks, default=rank(None), return_dtype=pl.Int8)


def _stored(commit: Commit, incoming: pl.DataFrame) -> pl.DataFrame:
    """Return the stored rows with the keys of these rows."""
    key = commit.table.endpoint.key
    names = ", ".join(f"stored.{quoted(name)}" for name in key)
    status = "stored.status as _stored_status" if commit.table.has("status") else "null as _stored_status"
    with registered_frames(commit.connection, incoming=incoming.select("practice_id", *key)):
        return frame_of(
            commit.connection,
            f"select {names}, stored.rowid as {TARGET}, stored._row_hash as _stored_hash, {status}"
            f" from {commit.table.raw} as stored join incoming on {same_key('stored', 'incoming', key)}",
        )


def _hashed(commit: Commit, frame: pl.DataFrame) -> pl.DataFrame:
    with registered_frames(commit.connection, incoming=frame):
        hashes = frame_of(
            commit.connection,
            f"select {POSITION}, {row_hash(commit.table.hashed, 'incoming')} as _row_hash from incoming",
        )
    return frame.join(hashes, on=POSITION)


def _write_new(commit: Commit, rows: pl.DataFrame) -> None:
    if rows.is_empty():
        return
    hashed = rows if "_row_hash" in rows.columns else _hashed(commit, rows)
    own = [column.name for column in commit.table.columns]
    write(commit, hashed.select("practice_id", *own, EXTRA, "_loaded_at", "_row_hash", TARGET))
