"""Collect the status of every list of every practice for `vetl status`, also during a sync."""

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from vetl.endpoints import RECEIVED
from vetl.store.connection import Connection
from vetl.store.control.strategy_questions import row_counts
from vetl.store.notes import Attempt, LastWindow, ListStatus, write_snapshot
from vetl.store.tables import RawTable

List = tuple[str, str]
"""A practice's id and the name of one of its lists."""

WRITTEN_EVERY = 1.0
"""Seconds between two snapshots, because a sync of many practices commits much more often."""

SHARE = 20
"""Pause between two snapshots, as a multiple of the time that the last one took: 80 ms for 320 practices."""

_RECEIVED = frozenset(endpoint.name for endpoint in RECEIVED)
_ONLY = (
    " semi join (select unnest($practices) as practice_id, unnest($endpoints) as endpoint)"
    " using (practice_id, endpoint)"
)
_FACTS = {
    "cursor": "select practice_id, endpoint, cursor from control.cursors {only}",
    "quarantined": (
        # This reads all lists, because rows in quarantine decide which lists have an entry.
        "select practice_id, endpoint, count(*), count(acknowledged_at) from control.quarantine"
        " where resolved_at is null group by all"
    ),
    "drift": (
        "select practice_id, endpoint, list(kind || ': ' || name || if(value = '', '', ' = ' || value)"
        " order by first_seen, name, value) from control.schema_changes {only} group by all"
    ),
    "restated": (
        "select practice_id, endpoint, count(*), max(noticed_at) from control.restatements {only} group by all"
    ),
    "attempt": (
        "select practice_id, endpoint, state, reason, command, run_id, finished_at, read_at, certified_through"
        " from control.attempts {only}"
    ),
}
"""The parts of an entry, without counts, windows and reconciles."""

_LAST_WINDOWS = (
    "select practice_id, endpoint, window_start, window_end, certified, reason, finished_at from control.windows"
    " semi join (select practice_id, endpoint, max(finished_at) as finished_at from control.windows"
    "  where finished_at >= $since group by all) using (practice_id, endpoint, finished_at)"
    " qualify row_number() over (partition by practice_id, endpoint order by window_end desc) = 1"
)
_COMMITTED_WITHIN = timedelta(days=1)
"""How much older, by the source's clock, a window may be than one that was committed before it."""

_RECONCILED = """
with reconciled as (
    select run_id, source_clock, unnest(from_json(
        json_extract(summary, '$.results'),
        '[{"practice_id": "VARCHAR", "endpoint": "VARCHAR", "state": "VARCHAR"}]'
    )) as list
    from control.runs where command = 'reconcile'
), proven as (
    select distinct run_id, practice_id from control.windows semi join reconciled using (run_id) where certified
)
select list.practice_id, list.endpoint, max(source_clock) from reconciled
semi join proven on reconciled.run_id = proven.run_id and list.practice_id = proven.practice_id
where list.state = 'certified' group by all
"""
"""A reconcile counts for the lists that it certified, as in `meta.proof`."""

_LAST_RUN = (
    "select run_id, command, started_at, finished_at, exit_code from control.runs"
    " where command in ('sync', 'reconcile') order by started_at desc, rowid desc limit 1"
)


class Status:
    """The entries of all lists. A commit updates only changed lists, so its cost does not grow with them."""

    def __init__(self, connection: Connection, tables: Sequence[RawTable]) -> None:
        self._connection = connection
        self._tables = {table.endpoint.name: table for table in tables}
        self._counts: dict[List, tuple[int, int]] = {}
        self._uncounted: set[List] | None = None
        """The lists to count; `None` before the first count: all."""
        self._windows: dict[List, tuple[Any, ...]] = {}
        self._searched_from = datetime(1970, 1, 1, tzinfo=UTC)
        self._reconciled: dict[List, tuple[Any, ...]] = {}
        self._entries: dict[List, ListStatus] = {}
        self._texts: dict[List, str] = {}
        self._stale: set[List] | None = None
        """The lists with an outdated entry; `None`: all."""
        self._next_at = float("-inf")

    def changed(self, practice_id: str, endpoint: str) -> None:
        """Mark the entry of a list as outdated, because its rows changed."""
        if self._uncounted is not None:
            self._uncounted.add((practice_id, endpoint))
        if self._stale is not None:
            self._stale.add((practice_id, endpoint))

    def practices_changed(self) -> None:
        """Mark all entries and counts as outdated: other practices are configured, or a time zone changed."""
        self._uncounted = self._stale = None

    def run_changed(self) -> None:
        """Mark all entries as outdated: a run began or ended, so that attempts and reconciles may differ."""
        self._stale = None

    def lists(self) -> list[ListStatus]:
        """Return an entry for each practice and list, in the order of the configured practices.

        A list that webhooks bring (`RECEIVED`) has an entry if rows of it are in raw or in quarantine.
        """
        self._refresh()
        return list(self._entries.values())

    def write(self, warehouse: Path, *, at_once: bool = False) -> None:
        """Write the snapshot, if it is due: `WRITTEN_EVERY` or more after the last time, or `at_once`."""
        begun = time.monotonic()
        if begun < self._next_at and not at_once:
            return
        self._refresh()
        [(migration,)] = self._rows_of("select max(name) from control.migrations")
        write_snapshot(warehouse, migration, self._last_run(), self._texts.values())
        ended = time.monotonic()
        self._next_at = ended + max(WRITTEN_EVERY, SHARE * (ended - begun))

    def write_rest(self, warehouse: Path) -> None:
        """Write the snapshot if entries changed after the last one."""
        if self._stale and self._next_at > float("-inf"):
            self.write(warehouse, at_once=True)

    def _last_run(self) -> dict[str, Any] | None:
        for run_id, command, started, finished, exit_code in self._rows_of(_LAST_RUN):
            times = {"started_at": _iso(started), "finished_at": _iso(finished)}
            return {"run_id": run_id, "command": command, "exit_code": exit_code, **times}
        return None

    def _refresh(self) -> None:
        stale, self._stale = self._stale, set[List]()
        if stale is not None and not stale:
            return
        practices = dict(self._rows_of("select id, name from control.practices order by id"))
        self._count()
        self._search_windows()
        if stale is None:
            self._reconciled = self._by_list(_RECONCILED, {})
            self._entries, self._texts = {}, {}
        facts = {name: self._facts(sql, stale) for name, sql in _FACTS.items()}
        listed = list(self._listed(practices, facts["quarantined"]))
        if stale is not None and set(listed) != self._entries.keys():
            # A webhook brought the first rows of a list, whose entry needs its place in the order.
            self._stale = None
            self._refresh()
            return
        for key in listed if stale is None else stale.intersection(listed):
            self._entries[key] = self._entry(key, practices, facts)
            self._texts[key] = self._entries[key].as_json()

    def _entry(
        self, key: List, practices: Mapping[str, str], facts: Mapping[str, Mapping[List, tuple[Any, ...]]]
    ) -> ListStatus:
        practice_id, endpoint = key
        cursor = json.loads(facts["cursor"][key][0]) if key in facts["cursor"] else None
        quarantined, acknowledged = facts["quarantined"].get(key, (0, 0))
        restated, last_restated = facts["restated"].get(key, (0, None))
        (reconciled,) = self._reconciled.get(key, (None,))
        attempt, by_sync = _attempt(facts["attempt"].get(key))
        window = self._windows.get(key)
        rows, is_open = self._counts.get(key, (0, 0))
        # A list is partly read while its first sync is under way, or if that was killed after it had kept rows.
        unread = "received" if endpoint in _RECEIVED else "partly read" if rows or window else "not read"
        return ListStatus(
            practice_id=practice_id,
            practice=practices.get(practice_id),
            endpoint=endpoint,
            state=attempt.state if attempt else unread,
            rows=rows,
            open=is_open,
            certified_through=_until(certified_through(cursor) if cursor else None, by_sync),
            attempt=attempt,
            last_read=_iso(window[4]) if window else None,
            certificate=_last_window(window),
            cursor=cursor,
            quarantined=quarantined,
            acknowledged=acknowledged,
            restated=restated,
            last_restated=_iso(last_restated),
            last_reconcile=_iso(reconciled),
            drift=tuple(facts["drift"].get(key, ([],))[0]),
        )

    def _listed(self, practices: Collection[str], quarantined: Collection[List]) -> Iterator[List]:
        """Yield the lists with an entry, also quarantined deliveries of practices that are not configured."""
        for practice_id in [*practices, *sorted({name for name, _ in quarantined}.difference(practices))]:
            for name in self._tables:
                key = (practice_id, name)
                if (key in quarantined or key in self._counts) if name in _RECEIVED else practice_id in practices:
                    yield key

    def _search_windows(self) -> None:
        """Update the last window of each list: search all windows once, then only the latest ones."""
        windows = self._by_list(_LAST_WINDOWS, {"since": self._searched_from})
        self._windows |= windows
        last = max((window[4] for window in windows.values()), default=None)
        self._searched_from = last - _COMMITTED_WITHIN if last else self._searched_from

    def _count(self) -> None:
        """Count the rows of each list for all practices once, then only for practices whose rows changed."""
        uncounted, self._uncounted = self._uncounted, set[List]()
        self._counts = {
            key: counts for key, counts in self._counts.items() if uncounted is not None and key not in uncounted
        }
        for name, table in self._tables.items():
            wanted = None if uncounted is None else [practice_id for practice_id, of in uncounted if of == name]
            if wanted is None or wanted:
                counted = row_counts(self._connection, table, wanted)
                self._counts |= {(practice_id, name): counts for practice_id, counts in counted.items()}

    def _facts(self, sql: str, stale: Collection[List] | None) -> dict[List, tuple[Any, ...]]:
        if stale is None or "{only}" not in sql:
            return self._by_list(sql.format(only=""), {})
        names = {"practices": [name for name, _ in stale], "endpoints": [name for _, name in stale]}
        return self._by_list(sql.format(only=_ONLY), names)

    def _rows_of(self, sql: str, values: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values or {}).fetchall()

    def _by_list(self, sql: str, values: Mapping[str, object]) -> dict[List, tuple[Any, ...]]:
        return {
            (practice_id, endpoint): tuple(rest) for practice_id, endpoint, *rest in self._rows_of(sql, values)
        }


def _until(by_cursor: str | None, by_sync: str | None) -> str | None:
    """Prefer the instant of the cursor, or that of the last sync if the cursor has only a day (calls)."""
    return by_sync or by_cursor if by_cursor is None or "T" not in by_cursor else by_cursor


def certified_through(cursor: Mapping[str, Any]) -> str | None:
    """Return the end of the certified time: an instant, or the first practice-local day that is not certified."""
    covered = cursor.get("covered")
    return covered[0][1] if covered else cursor.get("through")


def _attempt(row: tuple[Any, ...] | None) -> tuple[Attempt | None, str | None]:
    """Return the last attempt, and the instant up to which it certified its list."""
    if row is None:
        return None, None
    state, reason, command, run_id, finished, read, through = row
    return Attempt(state, reason, _iso(finished) or "", _iso(read), command, run_id), through


def _last_window(row: tuple[Any, ...] | None) -> LastWindow | None:
    if row is None:
        return None
    start, end, certified, reason, finished = row
    return LastWindow(certified, reason, start, end, _iso(finished))


def _iso(instant: datetime | None) -> str | None:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z") if instant else None
