"""Rows that cannot be understood: kept with the reason and their bytes until they come in well."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

import duckdb
import polars as pl

from pipelines.loading.context import Commit, registered_frames


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that did not fit. `key` finds it again; days are known for phone calls only."""

    key: str
    reason: str
    payload: str
    first_day: date | None = None
    last_day: date | None = None

    @classmethod
    def of(cls, row: object, key: Sequence[str], reason: str) -> "BadRow":
        """A JSON row, by its key where that is usable and by its content where not."""
        payload = json.dumps(row, default=str, sort_keys=True)
        parts = [row.get(name) for name in key] if isinstance(row, Mapping) else [None]
        usable = all(isinstance(part, str | int) and part != "" for part in parts)
        return cls("/".join(map(str, parts)) if usable else content_key(payload), reason, payload)

    def within(self, first_day: date, last_day: date) -> "BadRow":
        """The same row, met while these days were read; a day of its own it keeps."""
        return self if self.first_day else replace(self, first_day=first_day, last_day=last_day)


@dataclass(frozen=True, slots=True)
class Held:
    """One row in quarantine, as `control.quarantine` keeps it; times are the source's clock."""

    practice_id: str
    endpoint: str
    row_key: str
    reason: str
    payload: str
    first_day: date | None
    first_seen: datetime
    last_seen: datetime


def held(connection: duckdb.DuckDBPyConnection) -> list[Held]:
    """All rows that have not come in well since, by practice and list."""
    rows = connection.execute(
        "select practice_id, endpoint, row_key, reason, payload, first_day, first_seen, last_seen"
        " from control.quarantine where resolved_at is null order by practice_id, endpoint, first_seen, row_key"
    ).fetchall()
    return [Held(*row) for row in rows]


def held_counts(connection: duckdb.DuckDBPyConnection, endpoint_name: str) -> dict[str, int]:
    """By practice: how many rows of one list have not come in well since."""
    rows = connection.execute(
        "select practice_id, count(*) from control.quarantine"
        " where resolved_at is null and endpoint = ? group by 1",
        [endpoint_name],
    ).fetchall()
    return dict(rows)


def content_key(payload: str) -> str:
    """The key of a row that has none of its own."""
    return f"content:{hashlib.sha256(payload.encode()).hexdigest()[:24]}"


def numbered(rows: Iterable[BadRow]) -> list[BadRow]:
    """The same rows, where equal ones without a key of their own keep apart: none may be lost."""
    seen: dict[str, int] = {}
    result: list[BadRow] = []
    for row in rows:
        seen[row.key] = seen.get(row.key, 0) + 1
        result.append(row if seen[row.key] == 1 else replace(row, key=f"{row.key}#{seen[row.key]}"))
    return result


def quarantine_rows(commit: Commit, rows: Sequence[BadRow]) -> None:
    """Take rows in; one that is here already is only brought up to date."""
    by_key = {row.key: row for row in rows}
    if not by_key:
        return
    frame = pl.DataFrame(
        [(row.key, row.reason, row.payload, row.first_day, row.last_day) for row in by_key.values()],
        schema={
            "row_key": pl.String,
            "reason": pl.String,
            "payload": pl.String,
            "first_day": pl.Date,
            "last_day": pl.Date,
        },
        orient="row",
    )
    list_key = [commit.practice_id, commit.endpoint_name]
    commit.held.add((commit.practice_id, commit.endpoint_name))
    with registered_frames(commit.connection, bad=frame):
        commit.connection.execute(
            "update control.quarantine as q set reason = bad.reason, payload = bad.payload, last_seen = ?,"
            " run_id = ?, resolved_at = null from bad"
            " where q.row_key = bad.row_key and q.practice_id = ? and q.endpoint = ?",
            [commit.clock, commit.run_id, *list_key],
        )
        commit.connection.execute(
            "insert into control.quarantine by name"
            " select $1 as practice_id, $2 as endpoint, bad.*, $3 as run_id, $4 as first_seen, $4 as last_seen"
            " from bad where row_key not in (select row_key from control.quarantine"
            " where practice_id = $1 and endpoint = $2)",
            [*list_key, commit.run_id, commit.clock],
        )


def lists_with_rows(connection: duckdb.DuckDBPyConnection) -> set[tuple[str, str]]:
    """The lists of practices that have rows left to come in well."""
    rows = connection.execute(
        "select distinct practice_id, endpoint from control.quarantine where resolved_at is null"
    ).fetchall()
    return set(rows)


def holds_any(commit: Commit) -> bool:
    """Whether a row of this list of this practice may be held: asked at each commit, so without a statement."""
    return (commit.practice_id, commit.endpoint_name) in commit.held


def resolve_keys(commit: Commit, keys: pl.Series) -> None:
    """Rows with these keys have come in well."""
    if not holds_any(commit):
        return
    with registered_frames(commit.connection, well=pl.DataFrame({"row_key": keys})):
        commit.connection.execute(
            "update control.quarantine as q set resolved_at = ? from well where q.row_key = well.row_key"
            " and q.practice_id = ? and q.endpoint = ? and q.resolved_at is null",
            [commit.clock, commit.practice_id, commit.endpoint_name],
        )


def resolve_days(commit: Commit, first_day: date, last_day: date, still_bad: Iterable[str]) -> None:
    """Days were read again whole: what was bad in them and is not met any more is settled."""
    commit.connection.execute(
        "update control.quarantine set resolved_at = ? where practice_id = ? and endpoint = ?"
        " and resolved_at is null and first_day >= ? and last_day <= ? and not list_contains(?, row_key)",
        [commit.clock, commit.practice_id, commit.endpoint_name, first_day, last_day, list(still_bad)],
    )
