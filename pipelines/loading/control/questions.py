"""The warehouse's answers to what a strategy asks (`steps.Question`). They see what is committed."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import duckdb

from pipelines.core.endpoint import DateWindows, FullScan, NewestFirst, UpdatedWindows
from pipelines.core.steps import (
    CallsHere,
    CallsPerDay,
    DaysLackingDetails,
    DaysWithState,
    IdsHere,
    IdsWithStatus,
    Question,
    ReferencedIds,
    StatusCounts,
    UpdatesOf,
)
from pipelines.loading.tables import RawTable

_TOLD = (
    *("called_at_local", "direction", "client_name", "patient_name", "phone_number"),
    *("duration_seconds", "summary"),
)


def answer(connection: duckdb.DuckDBPyConnection, practice_id: str, table: RawTable, question: Question) -> Any:  # noqa: ANN401, PLR0911 - each question has its own answer
    """The answer to one question about one list of one practice; deleted rows do not count."""
    asked = _Asked(connection, practice_id, table)
    match question:
        case IdsWithStatus(statuses):
            return asked.ids_with_status(list(statuses))
        case IdsHere(time, start, end):
            return asked.ids_here(time, start, end)
        case UpdatesOf(ids):
            return asked.updates_of(list(ids))
        case StatusCounts():
            return asked.status_counts()
        case CallsPerDay(first, last):
            return asked.calls_per_day(first, last)
        case DaysWithState(states):
            return asked.days_with_state(list(states))
        case DaysLackingDetails(first, last):
            return asked.days_lacking_details(first, last)
        case CallsHere(first, last):
            return asked.calls_here(first, last)
        case ReferencedIds(stale_before, limit):
            return asked.referenced_ids(stale_before, limit)


def row_counts(
    connection: duckdb.DuckDBPyConnection, table: RawTable, practices: Sequence[str] | None
) -> dict[str, tuple[int, int]]:
    """By practice: how many rows the source has, and how many of them are not final, so that they are read again.

    `practices`: only these; `None`: all. A practice without rows has no entry.
    """
    column, values = _open_values(table)
    is_open = f"list_contains($values, {column})" if values else "false"
    among = "" if practices is None else "and practice_id in (select unnest($practices))"
    found = connection.execute(
        f"select practice_id, count(*), count(*) filter (where {is_open}) from {table.raw}"
        f" where _deleted_at is null {among} group by 1",
        ({"values": values} if values else {}) | ({} if practices is None else {"practices": list(practices)}),
    ).fetchall()
    return {practice_id: (rows, not_final) for practice_id, rows, not_final in found}


def _open_values(table: RawTable) -> tuple[str, list[str]]:
    match table.endpoint.strategy:
        case DateWindows(open_states=states):
            return "state", list(states)
        case UpdatedWindows(derived_from=str(status)):
            return "status", [status]
        case NewestFirst(open_statuses=statuses) | FullScan(open_statuses=statuses):
            return "status", list(statuses)
        case _:
            return "", []


class _Asked:
    def __init__(self, connection: duckdb.DuckDBPyConnection, practice_id: str, table: RawTable) -> None:
        self._connection = connection
        self._practice_id = practice_id
        self._table = table

    def rows(self, columns: str, condition: str = "", **values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
        """Rows of the practice that are not deleted."""
        return self._connection.execute(
            f"select {columns} from {self._table.raw} where practice_id = $practice and _deleted_at is null"
            f" {condition}",
            {"practice": self._practice_id, **values},
        ).fetchall()

    def ids_with_status(self, statuses: list[str]) -> list[str]:
        rows = self.rows("id", "and list_contains($statuses, status) order by id", statuses=statuses)
        return [identity for (identity,) in rows]

    def ids_here(self, time: str | None, start: datetime | None, end: datetime | None) -> list[str]:
        conditions = [f"and {time} >= $start"] * (start is not None) + [f"and {time} < $end"] * (end is not None)
        values = {name: bound for name, bound in (("start", start), ("end", end)) if bound is not None}
        return [identity for (identity,) in self.rows("id", " ".join([*conditions, "order by id"]), **values)]

    def updates_of(self, ids: list[str]) -> list[datetime | None]:
        rows = self.rows("distinct updated_at", "and list_contains($ids, id) order by 1", ids=ids)
        return [at for (at,) in rows]

    def status_counts(self) -> dict[str, int]:
        return dict(self.rows("coalesce(status, ''), count(*)", "group by 1"))

    def calls_per_day(self, first: date, last: date) -> dict[date, int]:
        between = "and call_date between $first and $last group by 1 order by 1"
        return dict(self.rows("call_date, count(*)", between, first=first, last=last))

    def calls_here(self, first: date, last: date) -> list[dict[str, Any]]:
        between = "and call_date between $first and $last"
        rows = self.rows(", ".join(_TOLD), between, first=first, last=last)
        return [dict(zip(_TOLD, row, strict=True)) for row in rows]

    def days_with_state(self, states: list[str]) -> list[date]:
        rows = self.rows("distinct call_date", "and list_contains($states, state) order by 1", states=states)
        return [day for (day,) in rows]

    def days_lacking_details(self, first: date, last: date) -> dict[date, int]:
        """A call's `_loaded_at` says since when it is as it is; a certificate, when the JSON list was read."""
        details_read_at = (
            "select max(finished_at) from control.windows where practice_id = $practice and endpoint = $endpoint"
            " and kind = 'details' and certified"
            " and days.call_date between try_cast(window_start as date) and try_cast(window_end as date)"
        )
        days = "call_date, count(*) as calls, count(id) as ids, max(_loaded_at) as changed_at"
        rows = self._connection.execute(
            f"with days as (select {days} from {self._table.raw} where practice_id = $practice"
            "  and _deleted_at is null and call_date between $first and $last group by 1)"
            f" select call_date, calls from days where ids < calls or changed_at > ({details_read_at}) order by 1",
            {
                "practice": self._practice_id,
                "endpoint": self._table.endpoint.name,
                "first": first,
                "last": last,
            },
        ).fetchall()
        return dict(rows)

    def referenced_ids(self, stale_before: datetime, limit: int) -> list[str]:
        """Unknown ids first, then those read longest ago; ids that the source lately did not have are left out."""
        ours = "where practice_id = $practice and endpoint = $endpoint"
        rows = self._connection.execute(
            f"select id, null as read_at from control.mentions {ours}"
            f" union all select id, null from control.missing_records {ours} and read_at < $stale_before"
            f" union all select id, read_at from control.lookups {ours} and read_at < $stale_before"
            " order by read_at nulls first, id limit $limit",
            {
                "practice": self._practice_id,
                "endpoint": self._table.endpoint.name,
                "stale_before": stale_before,
                "limit": limit,
            },
        ).fetchall()
        return [identity for identity, _ in rows]
