"""Return the reads behind a figure, from the private file: the last one of each window that touches its day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from pipelines.loading.connection import literal
from pipelines.loading.published.query import query


@dataclass(frozen=True, slots=True)
class WindowRead:
    """A window of a list as it was read last, from `control.windows`."""

    practice_id: str
    endpoint: str
    kind: str
    window_start: str | None
    window_end: str | None
    total: int
    rows: int
    distinct_ids: int | None
    is_certified: bool
    reason: str
    finished_at: datetime
    run_id: str


def reads_of(private: Path, lists: Sequence[str], practice: str, day: date) -> list[WindowRead]:
    """Return the last read of each window of these lists that may hold rows of a practice-local day.

    Bounds are days or UTC instants, and a local day reaches a day beyond its UTC day, so one day is added on each
    side.

    Raises:
        WarehouseBusy: a sync or a build holds the private file.
        WarehouseError: the file is missing or is no warehouse.
    """
    named = ", ".join(literal(name) for name in lists)
    first, last = (day - timedelta(days=1)).isoformat(), (day + timedelta(days=1)).isoformat()
    rows = query(
        private,
        "select practice_id, endpoint, kind, window_start, window_end, total_last, rows, distinct_ids, certified,"
        " reason, finished_at, run_id from control.windows"
        f" where practice_id = {literal(practice)} and endpoint in ({named})"
        f" and coalesce(left(window_start, 10) <= {literal(last)}, true)"
        f" and coalesce(left(window_end, 10) >= {literal(first)}, true)"
        " qualify row_number() over (partition by endpoint, kind, window_start, window_end, status"
        " order by finished_at desc) = 1 order by endpoint, finished_at, kind",
    ).rows
    return [WindowRead(*row) for row in rows]
