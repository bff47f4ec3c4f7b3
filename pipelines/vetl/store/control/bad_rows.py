"""Keep bad rows with their reason and payload until the same row is read without a fault."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import date, datetime

import polars as pl

from vetl.core.pages import Changes
from vetl.store.commit import Commit, registered_frames
from vetl.store.connection import Connection
from vetl.store.instants import INSTANT
from vetl.store.pseudonyms import GONE

_BAD_ROWS = {
    "row_key": pl.String,
    "reason": pl.String,
    "payload": pl.String,
    "first_day": pl.Date,
    "last_day": pl.Date,
    "practice_id": pl.String,
    "status": pl.String,
}
"""The fields of a `BadRow`, as columns of `control.quarantine`."""


LONG_ROW = 16 * 1024
"""Characters of a long row. DuckDB has 2,048 rows of a column in memory at once, beyond its limit of memory."""

KEPT_OF_A_LONG_ROW = 4_000
"""Characters of a long row's payload that quarantine keeps."""

_LONGEST_OWN_KEY = 200
"""Characters from which on a digest of the row stands for its key."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """One bad row. `key` identifies it; only phone calls have days.

    `practice_id` is empty until the batch is assigned to its practice. `status`: if it is readable.
    """

    key: str
    reason: str
    payload: str
    first_day: date | None = None
    last_day: date | None = None
    practice_id: str = ""
    status: str | None = None

    @classmethod
    def of(cls, row: object, key: Sequence[str], reason: str) -> "BadRow":
        """Return a bad JSON row, identified by its key, or by its content if the key is unusable."""
        payload = json.dumps(row, default=str, sort_keys=True)
        parts = [row.get(name) for name in key] if isinstance(row, Mapping) else [None]
        usable = all(isinstance(part, str | int) and part != "" for part in parts)
        own = "/".join(map(str, parts)) if usable else ""
        status = row.get("status") if isinstance(row, Mapping) else None
        return cls(
            own if 0 < len(own) <= _LONGEST_OWN_KEY else content_key(payload),
            reason,
            payload,
            status=status if isinstance(status, str) else None,
        )

    @property
    def kept(self) -> "BadRow":
        """Return the row with the beginning of its payload, as a JSON text, if the payload is long."""
        if len(self.payload) <= LONG_ROW:
            return self
        return replace(self, payload=json.dumps(self.payload[:KEPT_OF_A_LONG_ROW]))

    def within(self, first_day: date, last_day: date) -> "BadRow":
        """Return the row with the days of the read; a row that has a day keeps it."""
        return self if self.first_day else replace(self, first_day=first_day, last_day=last_day)


@dataclass(frozen=True, slots=True)
class QuarantinedRow:
    """One row in quarantine, as `control.quarantine` keeps it; times are the source's clock.

    `acknowledged_at`, `acknowledged_reason`: when somebody acknowledged it, by this machine's clock, and why.
    """

    practice_id: str
    endpoint: str
    row_key: str
    reason: str
    payload: str
    first_day: date | None
    first_seen: datetime
    last_seen: datetime
    acknowledged_at: datetime | None = None
    acknowledged_reason: str | None = None

    @property
    def is_cut(self) -> bool:
        """Return whether only the beginning of its payload was kept."""
        return self.payload.startswith('"')


QUARANTINED = (
    "select practice_id, endpoint, row_key, reason, payload, first_day, first_seen, last_seen,"
    " acknowledged_at, acknowledged_reason from control.quarantine"
    " where resolved_at is null order by practice_id, endpoint, first_seen, row_key"
)
"""The fields of `QuarantinedRow` of all unresolved rows, ordered by practice and list."""


def quarantined_rows(connection: Connection) -> list[QuarantinedRow]:
    """Return all unresolved rows, ordered by practice and list."""
    return [QuarantinedRow(*row) for row in connection.execute(QUARANTINED).fetchall()]


def acknowledge(connection: Connection, rows: Iterable[QuarantinedRow], reason: str) -> None:
    """Mark these rows as known: they stay in quarantine, and exit codes do not count them any more."""
    for row in rows:
        connection.execute(
            "update control.quarantine set acknowledged_at = now(), acknowledged_reason = ?"
            " where practice_id = ? and endpoint = ? and row_key = ? and resolved_at is null",
            [reason, row.practice_id, row.endpoint, row.row_key],
        )


def quarantined_counts(connection: Connection, endpoint_name: str) -> dict[str, int]:
    """Return by practice the number of rows of one list that are neither resolved nor acknowledged."""
    rows = connection.execute(
        "select practice_id, count(*) from control.quarantine"
        " where resolved_at is null and acknowledged_at is null and endpoint = ? group by 1",
        [endpoint_name],
    ).fetchall()
    return dict(rows)


def content_key(payload: str) -> str:
    """Return the key of a row without a usable key of its own."""
    return f"content:{hashlib.sha256(payload.encode()).hexdigest()[:24]}"


def numbered(rows: Iterable[BadRow]) -> list[BadRow]:
    """Number equal rows, so that each of them stays in quarantine."""
    seen: Counter[tuple[str, str]] = Counter()
    result: list[BadRow] = []
    for row in rows:
        seen[row.practice_id, row.key] += 1
        nth = seen[row.practice_id, row.key]
        result.append(row if nth == 1 else replace(row, key=f"{row.key}#{nth}"))
    return result


def quarantine_rows(commit: Commit, rows: Sequence[BadRow]) -> dict[str, Changes]:
    """Add rows, or update them if they are in quarantine already."""
    rows = [_without_people(commit, row) for row in rows]
    if not commit.table.endpoint.strategy.is_received:  # a delivery is read again from its payload
        rows = [row.kept for row in rows]
    by_key = {(row.practice_id, row.key): row for row in rows}
    if not by_key:
        return {}
    clocks = [commit.clocks[row.practice_id] for row in by_key.values()]
    frame = pl.DataFrame([astuple(row) for row in by_key.values()], _BAD_ROWS, orient="row").with_columns(
        first_seen=pl.Series(clocks, dtype=INSTANT), last_seen=pl.Series(clocks, dtype=INSTANT)
    )
    commit.quarantined_lists.update((row.practice_id, commit.endpoint_name) for row in rows)
    # Somebody acknowledged this payload: another one, or one that comes back later, is news.
    unchanged = "q.payload = bad.payload and q.resolved_at is null"
    with registered_frames(commit.connection, rows=frame):
        commit.connection.execute(
            "merge into control.quarantine as q using (select $1 as endpoint, *, $2 as run_id from rows) as bad"
            " using (practice_id, row_key, endpoint) when matched then update set reason = bad.reason,"
            " payload = bad.payload, status = bad.status, last_seen = bad.last_seen, run_id = bad.run_id,"
            f" acknowledged_at = case when {unchanged} then q.acknowledged_at end,"
            f" acknowledged_reason = case when {unchanged} then q.acknowledged_reason end, resolved_at = null"
            " when not matched then insert by name",
            [commit.endpoint_name, commit.run_id],
        )
    return {of: Changes(quarantined=count) for of, count in Counter(row.practice_id for row in rows).items()}


def _without_people(commit: Commit, row: BadRow) -> BadRow:
    """Return the row without its payload if it mentions a forgotten person."""
    pseudonyms = commit.pseudonyms
    if not any(pseudonyms.mentions_in(row.practice_id, text) for text in (row.key, row.reason, row.payload)):
        return row
    mentions = pseudonyms.by_practice.get(row.practice_id)
    if mentions is None:
        return replace(row, payload=GONE)
    key = mentions.identity(row.key) if commit.table.endpoint.table == "clients" else None
    return replace(row, key=key or row.key, reason=mentions.replaced(row.reason), payload=GONE)


def lists_with_rows(connection: Connection) -> set[tuple[str, str]]:
    """Return the lists that have unresolved rows, each with its practice."""
    rows = connection.execute(
        "select distinct practice_id, endpoint from control.quarantine where resolved_at is null"
    ).fetchall()
    return set(rows)


def holding(commit: Commit) -> list[str]:
    """Return the practices that may have rows in quarantine, without a query: every commit calls this."""
    return [
        practice_id
        for practice_id in commit.clocks
        if (practice_id, commit.endpoint_name) in commit.quarantined_lists
    ]


def resolve_keys(commit: Commit, rows: pl.DataFrame, key: Sequence[str]) -> None:
    """Resolve rows that were read without a fault: `rows` has `practice_id` and the columns of the key."""
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
    """Resolve the bad rows of days that were read again, except the rows that are still bad."""
    commit.connection.execute(
        "update control.quarantine set resolved_at = ? where practice_id = ? and endpoint = ?"
        " and resolved_at is null and first_day >= ? and last_day <= ? and not list_contains(?, row_key)",
        [commit.clocks[practice_id], practice_id, commit.endpoint_name, first_day, last_day, list(still_bad)],
    )
