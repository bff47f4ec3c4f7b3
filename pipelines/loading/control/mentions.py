"""Ids that rows mention, kept as they come in: what is still to be looked up costs no search through raw."""

from collections.abc import Iterable, Mapping

import duckdb
import polars as pl

from pipelines.core.endpoint import ByReference, Endpoint
from pipelines.loading.connection import quoted, same, same_key
from pipelines.loading.context import Commit, frame_of, registered_frames

Mention = tuple[str, str]
"""The column that mentions, and the list (by its name) that the ids are of."""


def mentions_of(endpoints: Iterable[Endpoint]) -> Mapping[str, tuple[Mention, ...]]:
    """The columns of each raw table that mention ids of another list, by the table's name."""
    mentions: dict[str, tuple[Mention, ...]] = {}
    for endpoint in endpoints:
        if isinstance(endpoint.strategy, ByReference):
            for table, column in endpoint.strategy.mentions:
                mentions[table] = (*mentions.get(table, ()), (column, endpoint.name))
    return mentions


def record_mentions(commit: Commit, rows: pl.DataFrame) -> None:
    """Remember what rows that were just written mention and what nobody has asked the source for."""
    columns = [
        rows.select("practice_id", endpoint=pl.lit(endpoint), id=column)
        for column, endpoint in commit.table.mentions
    ]
    if not columns:
        return
    ids = pl.concat(columns).unique().filter(pl.col("id") != "")  # null is no mention either
    if not ids.is_empty():
        _keep(commit, ids)


def _keep(commit: Commit, ids: pl.DataFrame) -> None:
    known = " union all ".join(
        f"select known.practice_id, known.endpoint, known.id from control.{table} as known join ids"
        f" on {same_key('known', 'ids', ('id',))} and {same('known', 'ids', 'endpoint')}"
        for table in ("lookups", "missing_records", "mentions")
    )
    with registered_frames(commit.connection, ids=ids):
        new = ids.join(frame_of(commit.connection, known), on=ids.columns, how="anti")
    if new.is_empty():
        return
    with registered_frames(commit.connection, new=new):
        commit.connection.execute("insert into control.mentions by name select * from new")


def ensure(connection: duckdb.DuckDBPyConnection, mentions: Mapping[str, tuple[Mention, ...]]) -> None:
    """Search raw once for what a column mentions that was not watched before: in a file of an earlier vetl."""
    rows = connection.execute("select value from control.meta where name = 'mentions_watched'").fetchall()
    watched = {value for (value,) in rows}
    for table, mention_columns in mentions.items():
        for column, endpoint in mention_columns:
            watch = f"{table}.{column} -> {endpoint}"
            if watch not in watched:
                _search(connection, table, column, endpoint)
                connection.execute("insert into control.meta values ('mentions_watched', ?)", [watch])


def _search(connection: duckdb.DuckDBPyConnection, table: str, column: str, endpoint: str) -> None:
    asked_for = " union all ".join(
        f"select practice_id, id from control.{name} where endpoint = $endpoint"
        for name in ("lookups", "missing_records", "mentions")
    )
    connection.execute(
        "insert into control.mentions by name with mentioned as ("
        f" select distinct practice_id, {quoted(column)} as id from raw.{quoted(table)}"
        f" where {quoted(column)} <> '') select practice_id, $endpoint as endpoint, id"
        f" from mentioned anti join ({asked_for}) using (practice_id, id)",
        {"endpoint": endpoint},
    )
