"""How every list of every practice stands: for `vetl status`, also while a sync holds the warehouse."""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from pipelines.loading.questions import open_count, row_count
from pipelines.loading.tables import RawTable
from pipelines.received import RECEIVED


def snapshot_path(warehouse: Path) -> Path:
    """Where the snapshot lies: beside the file."""
    return warehouse.with_name(f"{warehouse.name}.status.json")


_LAST_WINDOWS = (
    "select practice_id, endpoint, window_start, window_end, certified, reason, finished_at from control.windows"
    " semi join (select practice_id, endpoint, max(finished_at) as finished_at from control.windows"
    "  where finished_at >= ? group by all) using (practice_id, endpoint, finished_at)"
    " qualify row_number() over (partition by practice_id, endpoint order by window_end desc) = 1"
)
_COMMITTED_WITHIN = timedelta(days=1)
"""How much later than another one, by the source's clock, a window may be committed after it."""


_RECONCILED = """
with told as (
    select run_id, source_clock, unnest(from_json(
        json_extract(summary, '$.results'),
        '[{"practice_id": "VARCHAR", "endpoint": "VARCHAR", "state": "VARCHAR"}]'
    )) as list
    from control.runs where command = 'reconcile'
), proven as (
    select distinct run_id, practice_id from control.windows semi join told using (run_id) where certified
)
select list.practice_id, list.endpoint, max(source_clock) from told
semi join proven on told.run_id = proven.run_id and list.practice_id = proven.practice_id
where list.state = 'certified' group by all
"""
"""A reconcile counts for the lists that it certified, as in `marts.proof`."""


class Status:
    """Counts are taken anew only for what has changed, so that a commit's snapshot costs little."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, tables: Sequence[RawTable]) -> None:
        self._connection = connection
        self._tables = tables
        self._rows: dict[tuple[str, str], tuple[int, int]] = {}
        self._windows: dict[tuple[str, str], tuple[Any, ...]] = {}
        self._searched_from = datetime(1970, 1, 1, tzinfo=UTC)
        self._told: dict[str, dict[str, int]] = {}
        self._reconciled: dict[tuple[str, str], tuple[Any, ...]] | None = None

    def changed(self, practice_id: str, endpoint: str) -> None:
        """The rows of this list are not what they were."""
        self._rows.pop((practice_id, endpoint), None)
        self._told.pop(endpoint, None)

    def run_finished(self) -> None:
        """It may have been a reconcile."""
        self._reconciled = None

    def lists(self) -> list[dict[str, Any]]:
        """One entry for each practice and endpoint, of plain JSON values; instants in ISO 8601, UTC.

        What webhooks told (`RECEIVED`) has an entry where there is something of it, in quarantine or in raw.
        """
        practices = dict(self._rows_of("select id, name from control.practices order by id"))
        cursors = self._by_list("select practice_id, endpoint, cursor from control.cursors")
        windows = self._last_windows()
        quarantined = self._by_list(
            "select practice_id, endpoint, count(*) from control.quarantine where resolved_at is null group by all"
        )
        drift = self._by_list(
            "select practice_id, endpoint, list(kind || ': ' || name || if(value = '', '', ' = ' || value)"
            " order by first_seen, name, value) from control.schema_changes group by all"
        )
        restated = self._by_list(
            "select practice_id, endpoint, count(*), max(noticed_at) from control.restatements group by all"
        )
        if self._reconciled is None:
            self._reconciled = self._by_list(_RECONCILED)
        return [
            {
                "practice_id": practice_id,
                "practice": practices.get(practice_id),
                "endpoint": table.endpoint.name,
                "rows": self._counts(practice_id, table)[0],
                "open": self._counts(practice_id, table)[1],
                "certified_through": certified_through(json.loads(cursor[0])) if cursor else None,
                "last_read": _iso(window[4]) if window else None,
                "certificate": _certificate(window),
                "cursor": json.loads(cursor[0]) if cursor else None,
                "quarantined": held[0] if held else 0,
                "restated": differing[0] if differing else 0,
                "last_restated": _iso(differing[1]) if differing else None,
                "last_reconcile": _iso(reconciled[0]) if reconciled else None,
                "drift": seen[0] if seen else [],
            }
            for practice_id, table in self._shown(practices, quarantined)
            for window, cursor, held, seen, differing, reconciled in [
                tuple(
                    known.get((practice_id, table.endpoint.name))
                    for known in (windows, cursors, quarantined, drift, restated, self._reconciled)
                )
            ]
        ]

    def _shown(
        self, practices: Collection[str], quarantined: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[str, RawTable]]:
        """A body may be in quarantine because nobody knows its practice, so not only the configured count."""
        held = set(quarantined)
        known = [*practices, *sorted({practice_id for practice_id, _ in held}.difference(practices))]
        for practice_id in known:
            for table in self._tables:
                if table.endpoint in RECEIVED:
                    there = (practice_id, table.endpoint.name) in held or self._counts(practice_id, table)[0]
                else:
                    there = practice_id in practices
                if there:
                    yield practice_id, table

    def write(self, warehouse: Path) -> None:
        """Replace the snapshot beside the warehouse, in one rename. It is a help: no failure of it counts."""
        target = snapshot_path(warehouse)
        draft = target.with_name(f"{target.name}.{os.getpid()}")
        try:
            draft.write_text(json.dumps(self.lists(), ensure_ascii=False), "utf-8")
            draft.replace(target)
        except OSError:
            draft.unlink(missing_ok=True)

    def _last_windows(self) -> Mapping[tuple[str, str], tuple[Any, ...]]:
        """The last window of each list. All that were ever read are searched once, then only the latest."""
        found = self._by_list(_LAST_WINDOWS, self._searched_from)
        self._windows |= found
        last = max((window[4] for window in found.values()), default=None)
        self._searched_from = last - _COMMITTED_WITHIN if last else self._searched_from
        return self._windows

    def _counts(self, practice_id: str, table: RawTable) -> tuple[int, int]:
        """How many rows there are, and how many of them are not final yet."""
        if table.endpoint in RECEIVED:
            return self._received(table).get(practice_id, 0), 0
        key = (practice_id, table.endpoint.name)
        if key not in self._rows:
            rows = row_count(self._connection, practice_id, table)
            self._rows[key] = rows, open_count(self._connection, practice_id, table)
        return self._rows[key]

    def _received(self, table: RawTable) -> dict[str, int]:
        """Rows by practice: of many practices only few may have any, so they are not asked one by one."""
        name = table.endpoint.name
        if name not in self._told:
            counted = f"select practice_id, count(*) from {table.raw} where _deleted_at is null group by all"  # noqa: S608
            self._told[name] = dict(self._rows_of(counted))
        return self._told[name]

    def _rows_of(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def _by_list(self, sql: str, *values: object) -> dict[tuple[str, str], tuple[Any, ...]]:
        found = self._rows_of(sql, *values)
        return {(practice_id, endpoint): tuple(rest) for practice_id, endpoint, *rest in found}


def certified_through(cursor: Mapping[str, Any]) -> str | None:
    """Until when everything is certain: an instant, or the practice-local day that is not certain any more."""
    covered = cursor.get("covered")
    return covered[0][1] if covered else cursor.get("through")


def _certificate(window: tuple[Any, ...] | None) -> dict[str, Any] | None:
    if window is None:
        return None
    start, end, certified, reason, finished = window
    return {
        "start": start,
        "end": end,
        "certified": certified,
        "reason": reason,
        "finished": _iso(finished),
    }


def _iso(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
