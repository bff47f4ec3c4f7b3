"""Answer the questions of strategies (`steps.Question`) from committed rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from vetl.core import steps
from vetl.core.endpoint import DateWindows, Endpoint, FullScan, NewestFirst, UpdatedWindows
from vetl.store.connection import Connection
from vetl.store.tables import RawTable

_CALL_FIELDS = (
    "called_at_local",
    "direction",
    "client_name",
    "patient_name",
    "phone_number",
    "duration_seconds",
    "summary",
)


ListQuestion = tuple[str, Endpoint, steps.Question]
"""A practice's id, a list, and a question about it."""


def answers(
    connection: Connection, tables: Mapping[str, RawTable], list_questions: Sequence[ListQuestion]
) -> list[Any]:
    """Return the answers in order; deleted rows do not count.

    Practices with the same question about the same list share a statement, because each statement costs 1 to 6 ms.
    """
    groups: list[tuple[Endpoint, steps.Question, dict[str, Any]]] = []
    places: list[dict[str, Any]] = []
    for practice_id, endpoint, question in list_questions:
        alike = next((of for its, same, of in groups if its.name == endpoint.name and same == question), None)
        if alike is None:
            alike = {}
            groups.append((endpoint, question, alike))
        alike[practice_id] = None
        places.append(alike)
    for endpoint, question, alike in groups:
        alike.update(_Answers(connection, list(alike), tables[endpoint.name]).answers(question))
    return [alike[practice_id] for alike, (practice_id, _, _) in zip(places, list_questions, strict=True)]


def row_counts(
    connection: Connection, table: RawTable, practices: Sequence[str] | None
) -> dict[str, tuple[int, int]]:
    """Return by practice the number of rows that the source has, and the number of them that are not final.

    `practices` limits the count; `None` counts all. A practice without rows has no entry.
    """
    column, values = _open_values(table)
    is_open = f"list_contains($values, {column})" if values else "false"
    among = "" if practices is None else "and practice_id in (select unnest($practices))"
    counts = connection.execute(
        f"select practice_id, count(*), count(*) filter (where {is_open}) from {table.raw}"
        f" where _deleted_at is null {among} group by 1",
        ({"values": values} if values else {}) | ({} if practices is None else {"practices": list(practices)}),
    ).fetchall()
    return {practice_id: (rows, not_final) for practice_id, rows, not_final in counts}


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


_HELD = (
    "select practice_id, row_key as id, status from control.quarantine where endpoint = $endpoint"
    " and resolved_at is null and practice_id in (select unnest($practices))"
)


class _Answers:
    def __init__(self, connection: Connection, practices: Sequence[str], table: RawTable) -> None:
        self._connection = connection
        self._practices = practices
        self._table = table
        self._scope = {"practices": list(practices), "endpoint": table.endpoint.name}

    def answers(self, question: steps.Question) -> dict[str, Any]:
        match question:
            case steps.IdsWithStatus(statuses):
                return self.ids("and list_contains($statuses, status) order by id", statuses=list(statuses))
            case steps.IdsHere(time, start, end):
                return self.ids_here(time, start, end)
            case steps.StatusCounts():
                return self.status_counts()
            case steps.CallsPerDay(first, last):
                between = "and call_date between $first and $last group by all order by 2"
                return self.mappings(
                    self.rows("practice_id, call_date, count(*)", between, first=first, last=last)
                )
            case steps.DaysWithState(states):
                condition = "and list_contains($states, state) order by 2"
                return self.lists(self.rows("distinct practice_id, call_date", condition, states=list(states)))
            case steps.DaysLackingDetails(first, last):
                return self.days_lacking_details(first, last)
            case steps.CallsHere(first, last):
                return self.calls_here(first, last)
            case steps.ReferencedIds(stale_before, limit):
                return self.referenced_ids(stale_before, limit)

    def lists(self, rows: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
        by_practice: dict[str, list[Any]] = {practice_id: [] for practice_id in self._practices}
        for practice_id, value in rows:
            by_practice[practice_id].append(value)
        return by_practice

    def mappings(self, rows: Iterable[tuple[str, Any, Any]]) -> dict[str, dict[Any, Any]]:
        by_practice: dict[str, dict[Any, Any]] = {practice_id: {} for practice_id in self._practices}
        for practice_id, key, value in rows:
            by_practice[practice_id][key] = value
        return by_practice

    def rows(self, columns: str, condition: str = "", **values: Any) -> list[Any]:  # noqa: ANN401
        """Return rows of the practices that are not deleted."""
        return self._connection.execute(
            f"select {columns} from {self._table.raw}"
            f" where practice_id in (select unnest($practices)) and _deleted_at is null {condition}",
            {"practices": list(self._practices), **values},
        ).fetchall()

    def status_counts(self) -> dict[str, dict[str, int]]:
        """Return the rows by status. A row in quarantine counts with the status that it came with.

        Without it the totals would never agree, and each sync would read the whole list.
        """
        rows = self._connection.execute(
            f"with held as ({_HELD} and status is not null) select practice_id, status, count(*)"
            " from (from held union all by name"
            f" select practice_id, id, coalesce(status, '') as status from {self._table.raw} as stored"
            "  where practice_id in (select unnest($practices)) and _deleted_at is null"
            "  and not exists (from held where held.practice_id = stored.practice_id and held.id = stored.id))"
            " group by all",
            self._scope,
        ).fetchall()
        return self.mappings(rows)

    def ids(self, condition: str, **values: Any) -> dict[str, list[str]]:  # noqa: ANN401
        return self.lists(self.rows("practice_id, id", condition, **values))

    def ids_here(self, time: str | None, start: datetime | None, end: datetime | None) -> dict[str, list[str]]:
        # A row that was never changed may have no time of a change.
        at = f"coalesce({time}, created_at)"
        conditions = [f"and {at} >= $start"] * (start is not None) + [f"and {at} < $end"] * (end is not None)
        values = {name: bound for name, bound in (("start", start), ("end", end)) if bound is not None}
        here = self.ids(" ".join([*conditions, "order by id"]), **values)
        if values:
            return here
        # The source may lack a row in quarantine, too: it must not count for ever.
        held = self.lists(
            self._connection.execute(
                f"select practice_id, id from ({_HELD}) where not starts_with(id, 'content:')", self._scope
            ).fetchall()
        )
        return {of: sorted({*ids, *held[of]}) for of, ids in here.items()}

    def calls_here(self, first: date, last: date) -> dict[str, list[dict[str, Any]]]:
        between = "and call_date between $first and $last"
        rows = self.rows(", ".join(("practice_id", *_CALL_FIELDS)), between, first=first, last=last)
        return self.lists((row[0], dict(zip(_CALL_FIELDS, row[1:], strict=True))) for row in rows)

    def days_lacking_details(self, first: date, last: date) -> dict[str, dict[date, int]]:
        """Compare each call's `_loaded_at`, its last change, with the certificates of reads of the JSON list."""
        days = "practice_id, call_date, count(*) as calls, count(id) as ids, max(_loaded_at) as changed_at"
        rows = self._connection.execute(
            f"with days as (select {days} from {self._table.raw} where practice_id in (select unnest($practices))"
            "  and _deleted_at is null and call_date between $first and $last group by all),"
            " details as (select practice_id, call_date, max(finished_at) as read_at from days join"
            "  (select practice_id, finished_at, try_cast(window_start as date) as first,"
            "    try_cast(window_end as date) as last from control.windows"
            "    where endpoint = $endpoint and kind = 'details' and certified) as reads using (practice_id)"
            "  where call_date between reads.first and reads.last group by all)"
            " select practice_id, call_date, calls from days left join details using (practice_id, call_date)"
            " where ids < calls or changed_at > read_at order by 2",
            {**self._scope, "first": first, "last": last},
        ).fetchall()
        return self.mappings(rows)

    def referenced_ids(self, stale_before: datetime, limit: int) -> dict[str, list[str]]:
        """Return unknown ids first, then the ids read longest ago, without ids that the source lacked recently."""
        ours = "where practice_id in (select unnest($practices)) and endpoint = $endpoint"
        stale = "read_at < $stale_before"
        rows = self._connection.execute(
            "select practice_id, id from ("
            f" select practice_id, id, null as read_at from control.mentions {ours}"
            f" union all select practice_id, id, null from control.missing_records {ours} and {stale}"
            f" union all select practice_id, id, read_at from control.lookups {ours} and {stale})"
            " qualify row_number() over (partition by practice_id order by read_at nulls first, id) <= $limit"
            " order by read_at nulls first, id",
            {**self._scope, "stale_before": stale_before, "limit": limit},
        ).fetchall()
        return self.lists(rows)
