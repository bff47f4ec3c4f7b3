"""What vetl knows of its own work: runs, certificates, cursors, capabilities, the salt of call keys."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from secrets import token_hex
from typing import Any

import duckdb

from pipelines.core.pages import Certificate
from pipelines.core.steps import Learnt, MoveCursor
from pipelines.loading.context import Commit


def start_run(connection: duckdb.DuckDBPyConnection, run_id: str, started_at: datetime, command: str) -> None:
    """A command begins to read the source."""
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
    """It is done. `source_clock` is the platform's clock, `None` where it was never reached."""
    connection.execute(
        "update control.runs set finished_at = now(), source_clock = ?, exit_code = ?, summary = ?"
        " where run_id = ?",
        [source_clock, exit_code, json.dumps(summary), run_id],
    )


def last_clock(connection: duckdb.DuckDBPyConnection) -> datetime | None:
    """The platform's clock at the end of the last run that reached it."""
    (found,) = connection.execute("select max(source_clock) from control.runs").fetchall()
    return found[0]


def keep_certificates(commit: Commit, certificates: Sequence[Certificate]) -> None:
    """One row of `control.windows` for each window that was read."""
    if not certificates:
        return
    commit.connection.executemany(
        f"insert into control.windows values ({', '.join('?' * 17)})",
        [
            [
                commit.practice_id,
                commit.endpoint_name,
                commit.run_id,
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
            for item in certificates
        ],
    )


def bound(value: datetime | date | None) -> str | None:
    """A window's bound in ISO 8601: an instant in UTC, or a day."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return None if value is None else value.isoformat()


def keep_cursor(commit: Commit, move: MoveCursor) -> None:
    """The cursor as it is from now on."""
    list_key = [commit.practice_id, commit.endpoint_name]
    commit.connection.execute("delete from control.cursors where practice_id = ? and endpoint = ?", list_key)
    commit.connection.execute(
        "insert into control.cursors values (?, ?, ?, ?)",
        [*list_key, json.dumps(dict(move.cursor)), commit.run_id],
    )


def keep_learnt(commit: Commit, learnt: Learnt) -> None:
    """What the source was seen to do, in the place of what was known by this name."""
    list_key = [commit.practice_id, commit.endpoint_name, learnt.name]
    commit.connection.execute(
        "delete from control.capabilities where practice_id = ? and endpoint = ? and name = ?", list_key
    )
    commit.connection.execute(
        "insert into control.capabilities values (?, ?, ?, ?, ?, ?)",
        [*list_key, json.dumps(learnt.value), learnt.evidence, commit.run_id],
    )


def cursor(connection: duckdb.DuckDBPyConnection, practice_id: str, endpoint: str) -> dict[str, Any] | None:
    """The endpoint's cursor; `None` before the first."""
    rows = connection.execute(
        "select cursor from control.cursors where practice_id = ? and endpoint = ?", [practice_id, endpoint]
    ).fetchall()
    return json.loads(rows[0][0]) if rows else None


def capabilities(connection: duckdb.DuckDBPyConnection, practice_id: str, endpoint: str) -> dict[str, Any]:
    """What was learnt of this list, by name."""
    rows = connection.execute(
        "select name, value from control.capabilities where practice_id = ? and endpoint = ?",
        [practice_id, endpoint],
    ).fetchall()
    return {name: json.loads(value) for name, value in rows}


def salt(connection: duckdb.DuckDBPyConnection) -> str:
    """The secret of this file's call keys, made at first use."""
    rows = connection.execute("select value from control.meta where name = 'call_key_salt'").fetchall()
    if rows:
        return rows[0][0]
    made = token_hex(16)
    connection.execute("insert into control.meta values ('call_key_salt', ?)", [made])
    return made
