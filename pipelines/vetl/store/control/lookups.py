"""Track the ids of lists that are read by reference: mentioned ids, requested ids, and ids that the source lacks.

Mentions are stored as rows come in, so that finding the open ids needs no search through raw.

Select messages and outreach requests to read by id, because a webhook about them may be missing.

A record is read again when its age has doubled since the last read, but not within five minutes. That costs about
twenty requests in ten years, so no limit of age is needed. `now` is the source's clock.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import polars as pl

from vetl.core.endpoint import ByReference, Endpoint
from vetl.partner.webhooks import ENDED_OUTREACH_STATUSES, FINAL_MESSAGE_STATUSES
from vetl.store.connection import same, same_key
from vetl.store.context import Commit, frame_of, registered_frames
from vetl.store.control.bad_rows import BadRow
from vetl.store.instants import INSTANT

Mention = tuple[str, str]
"""A column that mentions ids, and the name of the list that the ids belong to."""

_NOTED = ("lookups", "missing_records", "mentions")
"""The control tables of ids that were requested, that the source lacks, and that are not requested yet."""


def mentions_of(endpoints: Iterable[Endpoint]) -> Mapping[str, tuple[Mention, ...]]:
    """Return the columns of each raw table that mention ids of another list, by the table's name."""
    mentions: dict[str, tuple[Mention, ...]] = {}
    for endpoint in endpoints:
        if isinstance(endpoint.strategy, ByReference):
            for table, column in endpoint.strategy.mentions:
                mentions[table] = (*mentions.get(table, ()), (column, endpoint.name))
    return mentions


def keep_read(commit: Commit, frame: pl.DataFrame, refused: Iterable[BadRow] = ()) -> None:
    """Record ids that were read: `frame` has `practice_id`, `id` and `_loaded_at`; forgotten ids are left out.

    A row that is `refused` was read, too: otherwise each sync would request it again.
    """
    bad = _frame_of_ids({(row.practice_id, row.key): commit.clocks[row.practice_id] for row in refused})
    read = pl.concat([frame.select("practice_id", "id", read_at="_loaded_at"), bad])
    if forgotten := commit.pseudonyms.of_practices(read["practice_id"].unique()):
        read = read.filter(~pl.col("id").is_in(forgotten))
    _replace(commit, "control.lookups", read)
    _remove(commit, "control.missing_records", read)
    _remove(commit, "control.mentions", read)


def keep_looks(commit: Commit, practice_id: str, ids: Sequence[str], read_at: datetime) -> None:
    """Record ids that were requested, whatever the answer was."""
    _replace(commit, "control.lookups", _frame_of_ids({(practice_id, item): read_at for item in ids}))


def keep_missing(commit: Commit, ids: Mapping[tuple[str, str], datetime]) -> pl.DataFrame:
    """Record ids that the source lacks; return them as `practice_id`, `id` and `read_at`."""
    missing = _frame_of_ids(ids)
    _replace(commit, "control.missing_records", missing)
    _remove(commit, "control.lookups", missing)
    _remove(commit, "control.mentions", missing)
    return missing


def record_mentions(commit: Commit, rows: pl.DataFrame) -> None:
    """Store the ids that written rows mention and that were not requested yet."""
    columns = [
        rows.select("practice_id", endpoint=pl.lit(endpoint), id=column)
        for column, endpoint in commit.table.mentions
    ]
    if not columns:
        return
    ids = pl.concat(columns).unique().filter(pl.col("id") != "")  # drops null too
    if not ids.is_empty():
        _insert_unknown(commit, ids)


def _insert_unknown(commit: Commit, ids: pl.DataFrame) -> None:
    noted = " union all ".join(
        f"select known.practice_id, known.endpoint, known.id from control.{table} as known join ids"
        f" on {same_key('known', 'ids', ('id',))} and {same('known', 'ids', 'endpoint')}"
        for table in _NOTED
    )
    with registered_frames(commit.connection, ids=ids):
        new = ids.join(frame_of(commit.connection, noted), on=ids.columns, how="anti")
    if new.is_empty():
        return
    with registered_frames(commit.connection, new=new):
        commit.connection.execute("insert into control.mentions by name select * from new")


def _frame_of_ids(ids: Mapping[tuple[str, str], datetime]) -> pl.DataFrame:
    """Return ids as a frame of `practice_id`, `id` and `read_at`."""
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


_LOOKS = (
    " looks as (select id, max(read_at) as looked from (from control.lookups union all by name"
    " from control.missing_records) where practice_id = $practice and endpoint = $endpoint"
    " and id in (select id from open) group by all)"
)
_DUE = (
    " where (looked is null or $now - looked >= greatest(looked - born, interval 5 minutes))"
    " order by looked nulls first, open.id limit $limit"
)


def due_messages(commit: Commit, practice_id: str, now: datetime, limit: int) -> list[str]:
    """Return messages that are not final, known by a webhook or by a given id.

    The first read is at least five minutes after the last webhook, because the next webhook may be on its way.
    """
    return _ids(
        commit,
        practice_id,
        f"with waiting as (select id, coalesce(created_at, sent_at, _loaded_at) as made from {commit.table.raw}"
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


def due_requests(commit: Commit, practice_id: str, now: datetime, limit: int) -> list[str]:
    """Return outreach requests whose end arrived by webhook, but that are missing or not final in raw."""
    return _ids(
        commit,
        practice_id,
        "with open as (select events.request_id as id,"
        " coalesce(events.completed_at, events.timestamp, events.received_at) as born"
        f" from raw.outreach_events as events left join {commit.table.raw} as stored"
        " on stored.practice_id = events.practice_id and stored.id = events.request_id"
        " where events.practice_id = $practice and not coalesce(list_contains($ended, stored.status), false)),"
        f"{_LOOKS} select open.id from open left join looks using (id) {_DUE}",
        now=now,
        limit=limit,
        ended=list(ENDED_OUTREACH_STATUSES),
    )


def _ids(
    commit: Commit, practice_id: str, sql: str, *, now: datetime, limit: int, **statuses: Sequence[str]
) -> list[str]:
    scope = {"practice": practice_id, "endpoint": commit.endpoint_name, "now": now, "limit": limit}
    return [identity for (identity,) in commit.connection.execute(sql, {**scope, **statuses}).fetchall()]
