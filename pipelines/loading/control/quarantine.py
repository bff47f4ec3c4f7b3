"""Rows that cannot be understood: kept with the reason and their bytes until they come in well."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import date, datetime

import duckdb
import polars as pl

from pipelines.core.pages import Changes
from pipelines.loading.context import Commit, registered_frames
from pipelines.loading.instants import INSTANT
from pipelines.loading.pseudonyms import GONE

_BAD_ROWS = {
    "row_key": pl.String,
    "reason": pl.String,
    "payload": pl.String,
    "first_day": pl.Date,
    "last_day": pl.Date,
    "practice_id": pl.String,
}
"""The fields of a `BadRow`, as columns of `control.quarantine`."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that did not fit. `key` finds it again; days are known for phone calls only.

    `practice_id` is empty until it is known whose rows they are that are read.
    """

    key: str
    reason: str
    payload: str
    first_day: date | None = None
    last_day: date | None = None
    practice_id: str = ""

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
    seen: Counter[tuple[str, str]] = Counter()
    result: list[BadRow] = []
    for row in rows:
        seen[row.practice_id, row.key] += 1
        nth = seen[row.practice_id, row.key]
        result.append(row if nth == 1 else replace(row, key=f"{row.key}#{nth}"))
    return result


def quarantine_rows(commit: Commit, rows: Sequence[BadRow]) -> dict[str, Changes]:
    """Take rows in; one that is here already is only brought up to date."""
    rows = [_without_people(commit, row) for row in rows]
    by_key = {(row.practice_id, row.key): row for row in rows}
    if not by_key:
        return {}
    clocks = [commit.clocks[row.practice_id] for row in by_key.values()]
    frame = pl.DataFrame([astuple(row) for row in by_key.values()], _BAD_ROWS, orient="row").with_columns(
        first_seen=pl.Series(clocks, dtype=INSTANT), last_seen=pl.Series(clocks, dtype=INSTANT)
    )
    commit.held.update((row.practice_id, commit.endpoint_name) for row in rows)
    same = "q.practice_id = bad.practice_id and q.row_key = bad.row_key and q.endpoint = $1"
    with registered_frames(commit.connection, bad=frame):
        commit.connection.execute(
            "update control.quarantine as q set reason = bad.reason, payload = bad.payload,"
            f" last_seen = bad.last_seen, run_id = $2, resolved_at = null from bad where {same}",
            [commit.endpoint_name, commit.run_id],
        )
        commit.connection.execute(
            "insert into control.quarantine by name select $1 as endpoint, bad.*, $2 as run_id from bad"
            f" where not exists (select 1 from control.quarantine as q where {same})",
            [commit.endpoint_name, commit.run_id],
        )
    return {of: Changes(quarantined=count) for of, count in Counter(row.practice_id for row in rows).items()}


def _without_people(commit: Commit, row: BadRow) -> BadRow:
    """The row without its payload, if that mentions somebody who was forgotten."""
    pseudonyms = commit.pseudonyms
    if not any(pseudonyms.mentions_in(row.practice_id, text) for text in (row.key, row.reason, row.payload)):
        return row
    mentions = pseudonyms.by_practice.get(row.practice_id)
    if mentions is None:
        return replace(row, payload=GONE)
    key = mentions.identity(row.key) if commit.table.endpoint.table == "clients" else None
    return replace(row, key=key or row.key, reason=mentions.replaced(row.reason), payload=GONE)


def lists_with_rows(connection: duckdb.DuckDBPyConnection) -> set[tuple[str, str]]:
    """The lists of practices that have rows left to come in well."""
    rows = connection.execute(
        "select distinct practice_id, endpoint from control.quarantine where resolved_at is null"
    ).fetchall()
    return set(rows)


def holding(commit: Commit) -> list[str]:
    """The practices of which a row may be held: asked at each commit, so without a statement."""
    return [practice_id for practice_id in commit.clocks if (practice_id, commit.endpoint_name) in commit.held]


def resolve_keys(commit: Commit, rows: pl.DataFrame, key: Sequence[str]) -> None:
    """Rows with these keys have come in well: `rows` has `practice_id` and the columns of the key."""
    for practice_id in holding(commit):
        well = rows.filter(practice_id=practice_id).select(row_key=pl.concat_str(key, separator="/"))
        with registered_frames(commit.connection, well=well):
            commit.connection.execute(
                "update control.quarantine as q set resolved_at = ? from well where q.row_key = well.row_key"
                " and q.practice_id = ? and q.endpoint = ? and q.resolved_at is null",
                [commit.clocks[practice_id], practice_id, commit.endpoint_name],
            )


def resolve_days(
    commit: Commit, practice_id: str, first_day: date, last_day: date, still_bad: Iterable[str]
) -> None:
    """Days were read again whole: what was bad in them and is not met any more is settled."""
    commit.connection.execute(
        "update control.quarantine set resolved_at = ? where practice_id = ? and endpoint = ?"
        " and resolved_at is null and first_day >= ? and last_day <= ? and not list_contains(?, row_key)",
        [commit.clocks[practice_id], practice_id, commit.endpoint_name, first_day, last_day, list(still_bad)],
    )
