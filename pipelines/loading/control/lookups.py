"""Ids of lists that are read by reference: what rows mention, what was asked for and when, what the source lacks.

Mentions are kept as rows come in: what is still to be looked up costs no search through raw.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import duckdb
import polars as pl

from pipelines.core.endpoint import ByReference, Endpoint
from pipelines.loading.connection import quoted, same, same_key
from pipelines.loading.context import Commit, frame_of, registered_frames
from pipelines.loading.instants import INSTANT

Mention = tuple[str, str]
"""The column that mentions, and the list (by its name) that the ids are of."""

_NOTED = ("lookups", "missing_records", "mentions")
"""The tables of `control` in which an id may stand already: it was asked for, is missing, or waits."""


def mentions_of(endpoints: Iterable[Endpoint]) -> Mapping[str, tuple[Mention, ...]]:
    """The columns of each raw table that mention ids of another list, by the table's name."""
    mentions: dict[str, tuple[Mention, ...]] = {}
    for endpoint in endpoints:
        if isinstance(endpoint.strategy, ByReference):
            for table, column in endpoint.strategy.mentions:
                mentions[table] = (*mentions.get(table, ()), (column, endpoint.name))
    return mentions


def keep_read(commit: Commit, frame: pl.DataFrame) -> None:
    """These ids were read: `frame` has `practice_id`, `id` and `_loaded_at`. The forgotten are never asked for."""
    read = frame.select("practice_id", "id", read_at="_loaded_at")
    if forgotten := commit.pseudonyms.of_practices(read["practice_id"].unique()):
        read = read.filter(~pl.col("id").is_in(forgotten))
    _replace(commit, "control.lookups", read)
    _remove(commit, "control.missing_records", read)
    _remove(commit, "control.mentions", read)


def keep_looks(commit: Commit, practice_id: str, ids: Sequence[str], read_at: datetime) -> None:
    """These ids were asked for, whatever the answer was."""
    _replace(commit, "control.lookups", _asked({(practice_id, item): read_at for item in ids}))


def keep_missing(commit: Commit, ids: Mapping[tuple[str, str], datetime]) -> pl.DataFrame:
    """The source does not have these ids, by practice and id: `practice_id`, `id` and `read_at`, as remembered."""
    missing = _asked(ids)
    _replace(commit, "control.missing_records", missing)
    _remove(commit, "control.lookups", missing)
    _remove(commit, "control.mentions", missing)
    return missing


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


def ensure_mentions(connection: duckdb.DuckDBPyConnection, mentions: Mapping[str, tuple[Mention, ...]]) -> None:
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
        f"select practice_id, id from control.{name} where endpoint = $endpoint" for name in _NOTED
    )
    connection.execute(
        "insert into control.mentions by name with mentioned as ("
        f" select distinct practice_id, {quoted(column)} as id from raw.{quoted(table)}"
        f" where {quoted(column)} <> '') select practice_id, $endpoint as endpoint, id"
        f" from mentioned anti join ({asked_for}) using (practice_id, id)",
        {"endpoint": endpoint},
    )


def _asked(ids: Mapping[tuple[str, str], datetime]) -> pl.DataFrame:
    """Practice and id, and when the source was asked for it."""
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
