# ruff: noqa: S608 - names come from declarations and are quoted; values are parameters
"""What vetl knows of its own work: runs, certificates, cursors, capabilities, the salt of call keys."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from secrets import token_hex
from typing import Any

import duckdb

from pipelines.loading.context import Commit
from pipelines.pages import Certificate
from pipelines.steps import Learnt, MoveCursor


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
    known = [commit.practice_id, commit.endpoint_name]
    commit.connection.execute("delete from control.cursors where practice_id = ? and endpoint = ?", known)
    commit.connection.execute(
        "insert into control.cursors values (?, ?, ?, ?)", [*known, json.dumps(dict(move.cursor)), commit.run_id]
    )


def keep_learnt(commit: Commit, learnt: Learnt) -> None:
    """What the source was seen to do, in the place of what was known by this name."""
    known = [commit.practice_id, commit.endpoint_name, learnt.name]
    commit.connection.execute(
        "delete from control.capabilities where practice_id = ? and endpoint = ? and name = ?", known
    )
    commit.connection.execute(
        "insert into control.capabilities values (?, ?, ?, ?, ?, ?)",
        [*known, json.dumps(learnt.value), learnt.evidence, commit.run_id],
    )


def cursor(connection: duckdb.DuckDBPyConnection, practice_id: str, endpoint: str) -> dict[str, Any] | None:
    """The endpoint's cursor; `None` before the first."""
    found = connection.execute(
        "select cursor from control.cursors where practice_id = ? and endpoint = ?", [practice_id, endpoint]
    ).fetchall()
    return json.loads(found[0][0]) if found else None


def capabilities(connection: duckdb.DuckDBPyConnection, practice_id: str, endpoint: str) -> dict[str, Any]:
    """What was learnt of this list, by name."""
    found = connection.execute(
        "select name, value from control.capabilities where practice_id = ? and endpoint = ?",
        [practice_id, endpoint],
    ).fetchall()
    return {name: json.loads(value) for name, value in found}


def salt(connection: duckdb.DuckDBPyConnection) -> str:
    """The secret of this file's call keys, made at first use."""
    found = connection.execute("select value from control.meta where name = 'call_key_salt'").fetchall()
    if found:
        return found[0][0]
    made = token_hex(16)
    connection.execute("insert into control.meta values ('call_key_salt', ?)", [made])
    return made
