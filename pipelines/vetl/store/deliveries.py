"""Store received webhooks in raw: the first of equal deliveries stays, and a message only moves forward.

So storing the same deliveries again changes nothing. Messages and outreach requests are read by id if a webhook
about them may be missing. A record is read again when its age has doubled since the last read, but not within five
minutes. That costs about twenty requests in ten years, so no limit of age is needed. `now` is the source's clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import polars as pl

from vetl.core.endpoint import Endpoint
from vetl.core.pages import Changes, Row
from vetl.core.steps import MissingRecords
from vetl.endpoints import MESSAGES
from vetl.partner.webhooks import ENDED_OUTREACH_STATUSES, FINAL_MESSAGE_STATUSES, MESSAGE_ORDER, rank
from vetl.store import merge
from vetl.store.commit import Commit, frame_of, registered_frames
from vetl.store.connection import quoted, same_key
from vetl.store.control import bad_rows, state
from vetl.store.control.bad_rows import BadRow
from vetl.store.frames import POSITION, Shape, typed
from vetl.store.merge import TARGET, mark_missing, with_row_hash, write
from vetl.store.warehouse import Warehouse


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


def take_in(warehouse: Warehouse, run_id: str, intakes: Sequence[Intake]) -> Changes:
    """Store deliveries in one transaction, also those of practices that are not configured."""
    with warehouse.writing():
        taken: list[Changes] = []
        for item in intakes:
            times = warehouse.times(item.practice_id, item.endpoint)
            read = replace(item, rows=[times.read(row) for row in item.rows])
            commit = warehouse.context(run_id, item.endpoint, {item.practice_id: item.read_at})
            changes = _take_in(commit, read)
            drift = tuple(f"{item.endpoint.name}: {line}" for line in (*changes.drift, *times.notes))
            taken.append(replace(changes, drift=drift))
    warehouse.changed((item.practice_id, item.endpoint.name) for item in intakes)
    return sum(taken, Changes())


def _take_in(commit: Commit, intake: Intake) -> Changes:
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
        state.keep_read(commit, incoming)
        mark_missing(commit, [(intake.practice_id, MissingRecords(intake.unknown_ids, intake.read_at))])
    return sum((tally[intake.practice_id] for tally in noted if tally), changes)


def _keep_first(commit: Commit, incoming: pl.DataFrame) -> Changes:
    key = list(commit.table.endpoint.key)
    first = incoming.sort(POSITION).unique(key, keep="first", maintain_order=True)
    new = first.join(_stored(commit, first), on=key, how="anti")
    write(commit, with_row_hash(commit, new.with_columns(pl.lit(None, pl.Int64).alias(TARGET))))
    return Changes(inserted=new.height, unchanged=incoming.height - new.height)


def _move_forward(commit: Commit, incoming: pl.DataFrame, *, even_stays: bool) -> Changes:
    """Keep the most advanced status of each message; with `even_stays`, a stored row stays at an equal status."""
    furthest = incoming.sort(_rank("status"), -pl.col(POSITION)).unique("id", keep="last", maintain_order=True)
    compared = with_row_hash(commit, furthest).join(_stored(commit, furthest), on="id", how="left")
    ahead = _rank("status") > _rank("_stored_status")
    even = (_rank("status") == _rank("_stored_status")) & pl.lit(not even_stays)
    changed = pl.col("_row_hash").ne_missing(pl.col("_stored_hash"))
    written = compared.filter(pl.col(TARGET).is_null() | ((ahead | even) & changed))
    write(commit, written)
    inserted = written[TARGET].null_count()
    return Changes(
        inserted=inserted, updated=written.height - inserted, unchanged=incoming.height - written.height
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


_LOOKS = (
    " looks as (select id, max(read_at) as looked from (from control.lookups union all by name"
    " from control.missing_records) where practice_id = $practice and endpoint = $endpoint"
    " and id in (select id from open) group by all)"
)
_DUE = (
    " where (looked is null or $now - looked >= greatest(looked - born, interval 5 minutes))"
    " order by looked nulls first, open.id limit $limit"
)


def due_messages(warehouse: Warehouse, practice_id: str, now: datetime, limit: int) -> list[str]:
    """Return messages that are not final, known by a webhook or by a given id.

    The first read is at least five minutes after the last webhook, because the next webhook may be on its way.
    """
    return _ids(
        warehouse,
        MESSAGES,
        practice_id,
        "with waiting as (select id, coalesce(created_at, sent_at, _loaded_at) as made from raw.messages"
        " where practice_id = $practice and not coalesce(list_contains($final, status), false)"
        " and not coalesce(status = 'delivered' and channel_used = 'sms', false)),"
        " heard as (select message_id as id, max(coalesce(occurred_at, timestamp)) as heard_at"
        " from raw.message_events where practice_id = $practice and message_id in (select id from waiting)"
        " group by all),"
        " open as (select id, made as born from waiting left join heard using (id)"
        " where coalesce(heard_at <= $now - interval 5 minutes, true)),"
        f"{_LOOKS} select open.id from open left join looks using (id) {_DUE}",
        now=now,
        limit=limit,
        final=list(FINAL_MESSAGE_STATUSES),
    )


def due_requests(
    warehouse: Warehouse, practice_id: str, endpoint: Endpoint, now: datetime, limit: int
) -> list[str]:
    """Return outreach requests whose end arrived by webhook, but that are missing or not final in raw."""
    return _ids(
        warehouse,
        endpoint,
        practice_id,
        "with open as (select events.request_id as id,"
        " coalesce(events.completed_at, events.timestamp, events.received_at) as born"
        " from raw.outreach_events as events left join raw.ai_outbound_requests as stored"
        " on stored.practice_id = events.practice_id and stored.id = events.request_id"
        " where events.practice_id = $practice and not coalesce(list_contains($ended, stored.status), false)),"
        f"{_LOOKS} select open.id from open left join looks using (id) {_DUE}",
        now=now,
        limit=limit,
        ended=list(ENDED_OUTREACH_STATUSES),
    )


def _ids(warehouse: Warehouse, endpoint: Endpoint, practice_id: str, sql: str, **parameters: object) -> list[str]:
    scope = {"practice": practice_id, "endpoint": endpoint.name, **parameters}
    with warehouse.reading() as connection:
        return [identity for (identity,) in connection.execute(sql, scope).fetchall()]


def keep_looks(
    warehouse: Warehouse, practice_id: str, endpoint: Endpoint, ids: Sequence[str], now: datetime
) -> None:
    """Record ids that were requested, whatever the answer, so that they are not requested again at once."""
    with warehouse.writing():
        state.keep_looks(warehouse.context("", endpoint, {}), practice_id, ids, now)
