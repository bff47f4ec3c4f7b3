"""Store runs, attempts, certificates, cursors, capabilities and the salt of call keys in the schema `control`."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from secrets import token_hex
from typing import Any

import duckdb

from vetl.core.pages import Certificate
from vetl.core.steps import Learnt, MoveCursor

List = tuple[str, str]
"""A practice's id and the name of one of its lists."""

_SALT = "call_key_salt"
"""The name of the call-key secret in `control.meta`."""


def start_run(connection: duckdb.DuckDBPyConnection, run_id: str, started_at: datetime, command: str) -> None:
    """Record the start of a command that reads the source."""
    connection.execute(
        "insert into control.runs (run_id, command, started_at) values (?, ?, ?)", [run_id, command, started_at]
    )


def finish_run(
    connection: duckdb.DuckDBPyConnection,
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


def keep_attempts(
    connection: duckdb.DuckDBPyConnection, run_id: str, results: Sequence[Mapping[str, Any]]
) -> None:
    """Replace the last attempt of each list by the results of a run (`SyncResult.as_json`).

    A failed list keeps the `certified_through` and the `read_at` of its earlier attempt.
    """
    if not results:
        return
    names = ("practice_id", "endpoint", "state", "reason", "certified_through")
    columns = [[result[name] for result in results] for name in names]
    unnested = ", ".join(f"unnest(?::varchar[]) as {name}" for name in names)
    connection.execute(
        f"create or replace temp table latest_attempts as select given.* replace ("
        " coalesce(given.certified_through, before.certified_through) as certified_through),"
        " if(given.state = 'failed', before.read_at, now()) as read_at"
        f" from (select {unnested}) as given left join control.attempts as before using (practice_id, endpoint)",
        columns,
    )
    connection.execute(
        "delete from control.attempts where (practice_id, endpoint) in"
        " (select (practice_id, endpoint) from latest_attempts)"
    )
    connection.execute(
        "insert into control.attempts by name select latest.*, runs.run_id, runs.command, now() as finished_at"
        " from latest_attempts as latest, control.runs as runs where runs.run_id = ?",
        [run_id],
    )
    connection.execute("drop table latest_attempts")


def last_clock(connection: duckdb.DuckDBPyConnection) -> datetime | None:
    """Return the platform's clock at the end of the last run that reached it."""
    (row,) = connection.execute("select max(source_clock) from control.runs").fetchall()
    return row[0]


def keep_certificates(
    connection: duckdb.DuckDBPyConnection, run_id: str, certificates: Sequence[tuple[List, Certificate]]
) -> None:
    """Store one row of `control.windows` for each window that was read."""
    _insert(
        connection,
        "control.windows",
        [
            [
                *of,
                run_id,
                item.kind,
                bound(item.window.start),
                bound(item.window.end),
                item.window.status,
                item.total_first,
                item.total_last,
                item.rows,
                item.distinct_ids,
                item.requests,
                item.retries,
                item.certified,
                item.reason,
                item.started,
                item.finished,
            ]
            for of, item in certificates
        ],
    )


def bound(value: datetime | date | None) -> str | None:
    """Return a window's bound in ISO 8601: an instant in UTC, or a day."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return None if value is None else value.isoformat()


def keep_cursors(
    connection: duckdb.DuckDBPyConnection, run_id: str, moves: Sequence[tuple[List, MoveCursor]]
) -> None:
    """Replace cursors by the last move of each list."""
    latest = {of: [json.dumps(dict(move.cursor)), run_id] for of, move in moves}
    _replace(connection, "control.cursors", ("practice_id", "endpoint"), latest)


def keep_learnt(connection: duckdb.DuckDBPyConnection, run_id: str, learnt: Sequence[tuple[List, Learnt]]) -> None:
    """Replace capabilities by the learnt ones."""
    latest = {(*of, item.name): [json.dumps(item.value), item.evidence, run_id] for of, item in learnt}
    _replace(connection, "control.capabilities", ("practice_id", "endpoint", "name"), latest)


def _replace(
    connection: duckdb.DuckDBPyConnection,
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


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows in one statement: a statement costs about 1 ms, each of its rows a quarter of that."""
    if rows:
        places = f"({', '.join('?' * len(rows[0]))})"
        connection.execute(
            f"insert into {table} values {', '.join([places] * len(rows))}",
            [value for row in rows for value in row],
        )


class Beginnings:
    """The cursors and capabilities of all lists, read in one query and refreshed for lists that changed."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._cursors: dict[List, dict[str, Any]] = {}
        self._capabilities: dict[List, dict[str, Any]] = {}
        self._stale: set[List] | None = None
        """`None` before the first query."""

    def changed(self, practice_id: str, endpoint: str) -> None:
        """Mark a list whose state was committed as stale."""
        if self._stale is not None:
            self._stale.add((practice_id, endpoint))

    def cursor(self, practice_id: str, endpoint: str) -> dict[str, Any] | None:
        """Return the list's cursor; `None` before the first read."""
        self._refresh((practice_id, endpoint))
        return self._cursors.get((practice_id, endpoint))

    def capabilities(self, practice_id: str, endpoint: str) -> dict[str, Any]:
        """Return the capabilities of this list by name."""
        self._refresh((practice_id, endpoint))
        return self._capabilities.get((practice_id, endpoint), {})

    def _refresh(self, of: List) -> None:
        if self._stale is not None and of not in self._stale:
            return
        only, values = ("", []) if self._stale is None else ("where practice_id = ? and endpoint = ?", [*of])
        for practice_id, endpoint, cursor in self._rows(f"cursor from control.cursors {only}", values):
            self._cursors[practice_id, endpoint] = json.loads(cursor)
        for practice_id, endpoint, name, value in self._rows(
            f"name, value from control.capabilities {only}", values
        ):
            self._capabilities.setdefault((practice_id, endpoint), {})[name] = json.loads(value)
        self._stale = (self._stale or set()) - {of}

    def _rows(self, what: str, values: list[str]) -> list[tuple[Any, ...]]:
        return self._connection.execute(f"select practice_id, endpoint, {what}", values).fetchall()


def salt(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the call-key secret of this file; make it before the first call."""
    known = connection.execute("select value from control.meta where name = ?", [_SALT]).fetchall()
    if known:
        return known[0][0]
    made = token_hex(16)
    connection.execute("insert into control.meta values (?, ?)", [_SALT, made])
    return made
