"""Note the days of each table that changed since the last build, in the transaction that changes them.

A build then rebuilds only rows that depend on those days (decision 23). The day of a call is its `call_date`.
The day of any other row is the UTC day of `created_at`, or null without one.
"""

import duckdb
import polars as pl

from vetl.store.context import Commit, frame_of, registered_frames
from vetl.store.tables import RawTable

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
