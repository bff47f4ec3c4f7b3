"""Compare the source before and after a sync with the warehouse, to find false claims.

A row *stands* if it was the same before and after the sync. A certificate of this sync covers it unchanged, and no
standing row has vanished.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import duckdb
import vetl_sandbox
from support import truth
from support.lists import WITH_IDS
from vetl.core.list_read import SyncResult
from vetl.settings import Settings

Row = Mapping[str, Any]
SKEW: Final = timedelta(minutes=5)
"""The most that a certificate may be ahead of the platform's own clock, because its `Date` header is ahead."""
_WINDOWS: Final = (
    "select endpoint, kind, window_start, window_end, status from control.windows"
    " where practice_id = ? and certified and kind <> 'details' order by rowid offset ?"
)


class Witness:
    """Watches some lists of one practice. If `lies`, answers may have wrong values, and only rows are compared."""

    def __init__(
        self, platform: vetl_sandbox.Handle, settings: Settings, lists: Collection[str], *, zone: str, lies: bool
    ) -> None:
        self._platform, self._practice = platform, settings.practices[0].id
        self._warehouse, self._lists = settings.warehouse.path, lists
        self._zone, self._lies = ZoneInfo(zone), lies
        self._windows = 0
        self.look()

    def look(self) -> None:
        self._before = self._now()

    def false_claims(self, result: SyncResult | None) -> list[str]:
        """Return the false claims after a sync, killed or not: wrong certificates and deletion marks."""
        now = self._now()
        self._standing = {
            name: {key: row for key, row in rows.items() if now[name].get(key) == row}
            for name, rows in self._before.items()
        }
        if not self._warehouse.exists():
            return []
        with duckdb.connect(self._warehouse, read_only=True) as self._connection:
            try:
                windows = self._rows(_WINDOWS, self._practice, self._windows)
            except duckdb.CatalogException:  # killed before the first write
                return []
            self._windows += len(windows)
            lines = [*self._false_windows(windows), *self._false_deletions()]
            if result is not None:
                lines += self._false_results(result)
        return lines[:10]

    def _rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    def _now(self) -> dict[str, dict[str, Row]]:
        return {
            name: {str(row["id"]): row for row in self._platform.truth(self._practice, name)}
            for name in self._lists
        }

    def _false_windows(self, windows: list[tuple[Any, ...]]) -> Iterator[str]:
        for endpoint, kind, start, end, status in windows:
            claim = f"{endpoint} {kind} {start} to {end} {status or ''}"
            if endpoint == "phone_calls":
                yield from self._missing_calls(date.fromisoformat(start), date.fromisoformat(end), claim)
            elif endpoint in WITH_IDS:
                field = "created_at" if endpoint == "ai_outbound" else "updated_at"
                inside = _inside(field, start, end, status)
                yield from self._missing(endpoint, inside, claim)

    def _false_results(self, result: SyncResult) -> Iterator[str]:
        for one in result.results:
            through = one.certified_through
            if through is None:
                continue
            claim = f"{one.endpoint} {one.state} through {through}"
            if through > self._platform.now() + SKEW:
                yield f"{claim}: that is in the future"
            if one.endpoint == "ai_outbound":  # its rows have no `updated_at`
                inside = _inside("created_at", None, through.isoformat(), None)
                yield from self._missing(one.endpoint, inside, claim) if one.state == "certified" else ()
            elif one.endpoint in WITH_IDS:
                inside = _inside("updated_at", None, through.isoformat(), None)
                # The status of a session follows from the clock.
                yield from self._missing(one.endpoint, inside, claim, but=("status",))

    def _false_deletions(self) -> Iterator[str]:
        stored = self._rows("select table_name from duckdb_tables() where schema_name = 'raw'")
        for name in truth.LISTS.keys() & set(self._lists):
            if (truth.LISTS[name],) not in stored:  # killed before the first write
                continue
            deleted = f"select id from raw.{truth.LISTS[name]} where practice_id = ? and _deleted_at is not null"
            gone = self._rows(deleted, self._practice)
            yield from (f"{name}: {key} is marked as deleted" for (key,) in gone if key in self._standing[name])

    def _missing(
        self, name: str, inside: Callable[[Row], bool], claim: str, but: tuple[str, ...] = ()
    ) -> Iterator[str]:
        here = {row["id"]: row for row in truth.rows_of(self._connection, truth.LISTS[name], self._practice)}
        refused = self._quarantined(name)
        for key, row in self._standing[name].items():
            if key in refused or not inside(row):
                continue
            if key not in here:
                yield f"{claim}: {key} of {row.get('updated_at', row['created_at'])} is not here"
            elif not self._lies:
                yield from (
                    f"{claim}: {key}.{field} is {here[key][field]!r}, should be {value!r}"
                    for field, value in row.items()
                    if field not in but and not truth.same(value, here[key][field])
                )

    def _missing_calls(self, first: date, last: date, claim: str) -> Iterator[str]:
        told_by = ("called_at_local", *(() if self._lies else truth.CALL_COLUMNS))
        here = Counter(
            tuple(row[name] for name in told_by)
            for row in truth.rows_of(self._connection, "phone_calls", self._practice)
        )
        calls = (truth.expected_call(row, self._zone.key) for row in self._standing["phone_calls"].values())
        there = Counter(
            tuple(row[name] for name in told_by) for row in calls if first <= row["called_at_local"].date() <= last
        )
        yield from (f"{claim}: a call at {key[0]} is not here" for key in there - here)

    def _quarantined(self, name: str) -> set[str]:
        if not self._lies:
            return set()
        payloads = self._rows("select payload from control.quarantine where endpoint = ?", name)
        return {key for key in self._standing[name] if any(key in str(payload) for (payload,) in payloads)}


def _inside(field: str, start: str | None, end: str | None, status: str | None) -> Callable[[Row], bool]:
    """Return whether a row lies strictly inside a window: bounds may be included or not."""

    def inside(row: Row) -> bool:
        at = datetime.fromisoformat(row[field])
        return (
            (start is None or at > _instant(start))
            and (end is None or at < _instant(end))
            and (status is None or row["status"] == status)
        )

    return inside


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
