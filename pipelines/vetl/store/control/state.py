"""Store vetl's own state in the schema `control`: runs, attempts, certificates, cursors, capabilities, marks.

A commit leaves marks for later work. The days of each table that changed since the last build, in the transaction
that changes them. A build then rebuilds only rows that depend on those days (decision 23). The day of a call is
its `call_date`. The day of any other row is the UTC day of `created_at`, or null without one.

Of lists that are read by reference there are mentioned ids, requested ids, and ids that the source lacks. Mentions
are stored as rows come in, so that finding the open ids needs no search through raw.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import UTC, date, datetime
from secrets import token_hex
from typing import Any

import polars as pl

from vetl.core.endpoint import ByReference, Endpoint
from vetl.core.pages import Certificate
from vetl.core.steps import Learnt, MoveCursor, Save
from vetl.store.commit import Commit, frame_of, registered_frames
from vetl.store.connection import Connection, literal, same, same_key
from vetl.store.control.bad_rows import BadRow
from vetl.store.instants import INSTANT
from vetl.store.tables import RawTable

List = tuple[str, str]
"""A practice's id and the name of one of its lists."""

_SALT = "call_key_salt"
"""The name of the call-key secret in `control.meta`."""


def start_run(connection: Connection, run_id: str, started_at: datetime, command: str) -> None:
    """Record the start of a command that reads the source."""
    connection.execute(
        "insert into control.runs (run_id, command, started_at) values (?, ?, ?)", [run_id, command, started_at]
    )


def finish_run(
    connection: Connection,
    run_id: str,
    source_clock: datetime | None,
    exit_code: int,
    summary: Mapping[str, Any],
) -> None:
    """Record the end of a run. `source_clock` is `None` if the platform was never reached."""
    connection.execute(
        "update control.runs set finished_at = now(), source_clock = ?, exit_code = ?, summary = ?"
        " where run_id = ?",
        [source_clock, exit_code, json.dumps(summary), run_id],
    )


def keep_attempts(connection: Connection, run_id: str, results: Sequence[Mapping[str, Any]]) -> None:
    """Replace the last attempt of each list by the results of a run (`SyncResult.as_json`).

    A failed list keeps the `certified_through` and the `read_at` of its earlier attempt.
    """
    if not results:
        return
    names = ("practice_id", "endpoint", "state", "reason", "certified_through")
    columns = [[result[name] for result in results] for name in names]
    unnested = ", ".join(f"unnest(?::varchar[]) as {name}" for name in names)
    connection.execute(
        "merge into control.attempts using (select given.* replace ("
        " coalesce(given.certified_through, before.certified_through) as certified_through),"
        " if(given.state = 'failed', before.read_at, now()) as read_at, runs.run_id, runs.command,"
        f" now() as finished_at from (select {unnested}) as given"
        " left join control.attempts as before using (practice_id, endpoint)"
        " join control.runs as runs on runs.run_id = ?) as latest using (practice_id, endpoint)"
        " when matched then update by name when not matched then insert by name",
        [*columns, run_id],
    )


def keep_certificates(
    connection: Connection, run_id: str, certificates: Sequence[tuple[List, Certificate]]
) -> None:
    """Store one row of `control.windows` for each window that was read."""
    rows: list[list[object]] = []
    for of, certificate in certificates:
        (start, end, status), kind, *rest = astuple(certificate)
        rows.append([*of, run_id, kind, bound(start), bound(end), status, *rest])
    _insert(connection, "control.windows", rows)


def bound(value: datetime | date | None) -> str | None:
    """Return a window's bound in ISO 8601: an instant in UTC, or a day."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return None if value is None else value.isoformat()


def keep_cursors(connection: Connection, run_id: str, moves: Sequence[tuple[List, MoveCursor]]) -> None:
    """Replace cursors by the last move of each list."""
    latest = {of: [json.dumps(dict(move.cursor)), run_id] for of, move in moves}
    _replace(connection, "control.cursors", ("practice_id", "endpoint"), latest)


def keep_learnt(connection: Connection, run_id: str, learnt: Sequence[tuple[List, Learnt]]) -> None:
    """Replace capabilities by the learnt ones."""
    latest = {(*of, item.name): [json.dumps(item.value), item.evidence, run_id] for of, item in learnt}
    _replace(connection, "control.capabilities", ("practice_id", "endpoint", "name"), latest)


def _replace(
    connection: Connection,
    table: str,
    key: Sequence[str],
    rows: Mapping[tuple[str, ...], Sequence[object]],
) -> None:
    """Replace rows by key, in two statements for all lists of the transaction."""
    if not rows:
        return
    gone = ", ".join(f"unnest(?::varchar[]) as {name}" for name in key)
    same = " and ".join(f"{table}.{name} = gone.{name}" for name in key)
    columns = [list(values) for values in zip(*rows, strict=True)]
    connection.execute(f"delete from {table} using (select {gone}) as gone where {same}", columns)
    _insert(connection, table, [[*of, *rest] for of, rest in rows.items()])


def _insert(connection: Connection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows in one statement: a statement costs about 1 ms, each of its rows a quarter of that."""
    if rows:
        places = f"({', '.join('?' * len(rows[0]))})"
        connection.execute(
            f"insert into {table} values {', '.join([places] * len(rows))}",
            [value for row in rows for value in row],
        )


class Beginnings:
    """The committed cursors and capabilities of all lists, read once."""

    def __init__(self, connection: Connection) -> None:
        cursors = connection.execute("select practice_id, endpoint, cursor from control.cursors").fetchall()
        self.cursors: dict[List, dict[str, Any]] = {
            (practice_id, endpoint): json.loads(cursor) for practice_id, endpoint, cursor in cursors
        }
        self.capabilities: dict[List, dict[str, Any]] = {}
        for practice_id, endpoint, name, value in connection.execute(
            "select practice_id, endpoint, name, value from control.capabilities"
        ).fetchall():
            self.capabilities.setdefault((practice_id, endpoint), {})[name] = json.loads(value)

    def committed(self, of: List, saves: Sequence[Save]) -> None:
        """Take over the cursor and the capabilities of a list that were committed, as JSON has them."""
        for save in saves:
            match save:
                case MoveCursor(cursor=cursor):
                    self.cursors[of] = json.loads(json.dumps(dict(cursor)))
                case Learnt(name=name, value=value):
                    self.capabilities.setdefault(of, {})[name] = json.loads(json.dumps(value))
                case _:
                    pass


def salt(connection: Connection) -> str:
    """Return the call-key secret of this file; make it before the first call."""
    known = connection.execute("select value from control.meta where name = ?", [_SALT]).fetchall()
    if known:
        return known[0][0]
    made = token_hex(16)
    connection.execute("insert into control.meta values (?, ?)", [_SALT, made])
    return made


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
    _replace_ids(commit, "control.lookups", read)
    _remove_ids(commit, "control.missing_records", read)
    _remove_ids(commit, "control.mentions", read)


def keep_looks(commit: Commit, practice_id: str, ids: Sequence[str], read_at: datetime) -> None:
    """Record ids that were requested, whatever the answer was."""
    _replace_ids(commit, "control.lookups", _frame_of_ids({(practice_id, item): read_at for item in ids}))


def keep_missing(commit: Commit, ids: Mapping[tuple[str, str], datetime]) -> pl.DataFrame:
    """Record ids that the source lacks; return them as `practice_id`, `id` and `read_at`."""
    missing = _frame_of_ids(ids)
    _replace_ids(commit, "control.missing_records", missing)
    _remove_ids(commit, "control.lookups", missing)
    _remove_ids(commit, "control.mentions", missing)
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
    rows = [(*key, read_at) for key, read_at in ids.items()]
    return pl.DataFrame(rows, {"practice_id": pl.String, "id": pl.String, "read_at": INSTANT}, orient="row")


def _replace_ids(commit: Commit, table: str, rows: pl.DataFrame) -> None:
    _remove_ids(commit, table, rows)
    with registered_frames(commit.connection, rows=rows):
        commit.connection.execute(
            f"insert into {table} by name select ? as endpoint, rows.* from rows", [commit.endpoint_name]
        )


def _remove_ids(commit: Commit, table: str, rows: pl.DataFrame) -> None:
    with registered_frames(commit.connection, rows=rows):
        commit.connection.execute(
            f"delete from {table} as known using rows where {same_key('known', 'rows', ('id',))} and endpoint = ?",
            [commit.endpoint_name],
        )


_TARGET = "_target"


_DAYS = {"call_date": "call_date", "created_at": "timezone('UTC', created_at)::date"}
"""SQL for the day of a row, by the column that it comes from; the first that a table has is used."""


def note_new(commit: Commit, rows: pl.DataFrame) -> None:
    """Note the days of rows, with all their columns, that are about to be written."""
    columns = [name for name in _DAYS if name in rows.columns]
    with registered_frames(commit.connection, written=rows.select("practice_id", *columns)):
        _note(commit.connection, commit.table, "written")


def note_stored(commit: Commit, rows: pl.DataFrame) -> None:
    """Note the days of stored rows (`_target`) that are about to change or to be deleted."""
    with registered_frames(commit.connection, touched=rows.select(_TARGET)):
        _note(commit.connection, commit.table, f"{commit.table.raw} where rowid in (from touched)")


def note_practice(connection: Connection, practice_id: str, table: RawTable) -> None:
    """Note all days of a practice, after a change that shows in each of its rows."""
    _note(connection, table, f"{table.raw} where practice_id = {literal(practice_id)}")


def note_undated(connection: Connection, table: str, practices: Iterable[tuple[str]]) -> None:
    """Note rows of these practices in a table that the marts read as a whole."""
    connection.execute(
        "insert into control.changes select unnest($practices::varchar[]), $table, null::date except from"
        " control.changes",
        {"practices": [name for (name,) in practices], "table": table},
    )


def _note(connection: Connection, table: RawTable, rows: str) -> None:
    day = next((sql for name, sql in _DAYS.items() if table.has(name)), "null::date")
    connection.execute(
        f"insert into control.changes select practice_id, $table, {day} from {rows} except from control.changes",
        {"table": table.endpoint.table},
    )
