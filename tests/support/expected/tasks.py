"""The mart of staff tasks, implemented a second time from its definition: durations, also in opening hours."""

from datetime import datetime, time, timedelta
from itertools import pairwise
from typing import Any

from support.cells import count, hours, median_of
from support.mart_inputs import Expected, Known

OPENS, CLOSES, DAYS = 8, 18, 6
"""Opening hours, and the number of weekdays from Monday: the project's defaults."""
FINAL = {"completed", "canceled"}


def staff_task_turnaround_daily(source: Known) -> Expected:
    again, days = reopened(source), source.by_day(source.rows("staff_tasks"), "task_type")
    expected: dict[Any, tuple[Any, ...]] = {}
    for key, tasks in days.items():
        done = [row for row in tasks if row["status"] == "completed"]
        local = [(source.local(row, "created_at"), source.local(row, "finalized_at")) for row in done]
        expected[key] = (
            len(tasks),
            *(
                count(tasks, lambda row, s=status: row["status"] == s)
                for status in ("completed", "canceled", "pending")
            ),
            median_of(hours(row["created_at"], row["finalized_at"]) for row in done),
            median_of(open_hours(*times) for times in local),
            count(tasks, lambda row: (row["practice_id"], row["id"]) in again),
            median_of(hours(row["created_at"], source.now) for row in tasks if row["status"] == "pending"),
        )
    return expected


def reopened(source: Known) -> set[tuple[str, str]]:
    """Return the tasks that were seen to leave a final status."""
    return {
        key
        for key, versions in source.versions("staff_tasks").items()
        if any(a["status"] in FINAL and b["status"] not in FINAL for a, b in pairwise(versions))
    }


def open_hours(start: datetime | None, end: datetime | None) -> float | None:
    """Return opening hours between two times of the wall clock, day by day."""
    if start is None or end is None:
        return None
    total, day = 0.0, start.date()
    while day <= end.date():
        if day.isoweekday() <= DAYS:
            first = max(start, datetime.combine(day, time(OPENS)))
            last = min(end, datetime.combine(day, time(CLOSES)))
            total += max((last - first) / timedelta(hours=1), 0)
        day += timedelta(days=1)
    return total
