"""Marks that a commit leaves in `control` for later work.

The days of each table that changed since the last build, in the transaction that changes them. A build then
rebuilds only rows that depend on those days (decision 23). The day of a call is its `call_date`. The day of any
other row is the UTC day of `created_at`, or null without one.

The ids of lists that are read by reference: mentioned ids, requested ids, and ids that the source lacks. Mentions
are stored as rows come in, so that finding the open ids needs no search through raw.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import duckdb
import polars as pl

from vetl.core.endpoint import ByReference, Endpoint
from vetl.store.connection import same, same_key
from vetl.store.context import Commit, frame_of, registered_frames
from vetl.store.control.bad_rows import BadRow
from vetl.store.instants import INSTANT
from vetl.store.tables import RawTable

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


_TARGET = "_target"


def note_new(commit: Commit, rows: pl.DataFrame) -> None:
    """Note the days of rows, with all their columns, that are about to be written."""
    if "call_date" in rows.columns:
        day = pl.col("call_date")
    elif commit.table.has("created_at"):
        day = pl.col("created_at").dt.date()
    else:
        day = pl.lit(None, pl.Date())
    _keep(commit, rows.select("practice_id", day.alias("day")).unique())


def note_stored(commit: Commit, rows: pl.DataFrame) -> None:
    """Note the days of stored rows (`_target`) that are about to change or to be deleted."""
    if commit.table.has("call_date"):
        day = "call_date"
    elif commit.table.has("created_at"):
        day = "timezone('UTC', created_at)::date"
    else:
        day = "null::date"
    with registered_frames(commit.connection, touched=rows.select(_TARGET)):
        days = frame_of(
            commit.connection,
            f"select distinct practice_id, {day} as day from {commit.table.raw} as stored"
            f" where stored.rowid in (select {_TARGET} from touched)",
        )
    _keep(commit, days)


def note_practice(connection: duckdb.DuckDBPyConnection, practice_id: str, table: RawTable) -> None:
    """Note all days of a practice, after a change that shows in each of its rows."""
    connection.execute(
        "insert into control.changes"
        f" select distinct practice_id, $table, call_date from {table.raw} where practice_id = $practice"
        " except select * from control.changes",
        {"practice": practice_id, "table": table.endpoint.table},
    )


def _keep(commit: Commit, days: pl.DataFrame) -> None:
    with registered_frames(commit.connection, days=days):
        commit.connection.execute(
            "insert into control.changes select practice_id, $table, day from days where not exists"
            " (select 1 from control.changes as known where known.practice_id = days.practice_id"
            " and known.table_name = $table and known.day is not distinct from days.day)",
            {"table": commit.table.endpoint.table},
        )
