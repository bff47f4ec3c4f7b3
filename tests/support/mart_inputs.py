"""All inputs of a mart, and the form of its expected rows."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import wraps
from typing import Any, TypeVar

from support.cells import groups
from support.random_rows import Row, Tables
from support.zones import on_the_wall
from vetl.core.list_read import Practice

Result = TypeVar("Result")
KEPT = 4
"""The inputs whose results are kept."""
Expected = Mapping[tuple[Any, ...], tuple[Any, ...] | Mapping[str, Any]]
"""A mart's rows by their grain: the columns beside it in their order, or by their names."""

COUNTRIES = {
    **dict.fromkeys(("America/New_York", "America/Phoenix", "America/Los_Angeles", "America/Chicago"), "US"),
    "Australia/Sydney": "AU",
    "Europe/London": "GB",
    "America/St_Johns": "CA",
    "America/Santiago": "CL",
}
"""The countries of the zones that practices of tests have."""


@dataclass(frozen=True)
class Known:
    """The practices, the source's clock at the last sync, and the rows seen at the source.

    `tables` are named as those of raw; `history.<table>` holds the superseded versions.
    """

    practices: Sequence[Practice]
    now: datetime
    tables: Tables
    unread: frozenset[str] = frozenset()
    """Practices that are configured and could never be read."""

    def as_of(self, practice_id: str) -> datetime | None:
        return None if practice_id in self.unread else self.now

    def rows(self, table: str) -> list[Row]:
        return [row for row in self.tables[table] if not row["_deleted_at"]]

    def practices_in(self, table: str) -> set[str]:
        return {row["practice_id"] for row in self.tables[table]}

    def versions(self, table: str) -> dict[tuple[str, str], list[Row]]:
        """Return all versions of each row, the oldest first."""
        versions: dict[tuple[str, str], list[Row]] = defaultdict(list)
        latest = ({**row, "_valid_from": row["_loaded_at"]} for row in self.tables[table])
        every = [*self.tables.get(f"history.{table}", ()), *latest]
        for row in sorted(every, key=lambda row: row["_valid_from"]):
            versions[row["practice_id"], row["id"]].append(row)
        return versions

    def zone_of(self, practice_id: str) -> str | None:
        """Return the practice's time zone, if the practice is configured."""
        return next((one.time_zone for one in self.practices if one.id == practice_id), None)

    def region_of(self, practice_id: str) -> str | None:
        zone_name = self.zone_of(practice_id)
        return COUNTRIES[zone_name] if zone_name else None

    def local(self, row: Row, column: str) -> datetime | None:
        """Return a time of a row on the wall clock of its practice."""
        return on_the_wall(row.get(column), self.zone_of(row["practice_id"]))

    def day(self, row: Row) -> date | None:
        """Return the day of a row's `created_at` on the wall clock of its practice."""
        local = self.local(row, "created_at")
        return local.date() if local else None

    def by_day(self, rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
        """Return rows by practice, day and columns, an empty string being null."""
        return groups(rows, self.day, *columns)


def once_for_each(compute: Callable[[Known], Result]) -> Callable[[Known], Result]:
    """Compute the results of the last inputs only once; nobody may change them."""
    cache: dict[int, tuple[Known, Result]] = {}

    @wraps(compute)
    def answer(source: Known) -> Result:
        if id(source) not in cache:
            if len(cache) == KEPT:
                del cache[next(iter(cache))]
            cache[id(source)] = source, compute(source)
        return cache[id(source)][1]

    return answer
