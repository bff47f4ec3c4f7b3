"""What a day's sessions were as known then and as known now, cell by cell, against plain Python."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from support.cells import Cells, Query, assert_equal, cells, count, local_day
from support.random_rows import SOURCE_CLOCK, ZONES, Row, Tables

Version = tuple[Row, datetime, datetime | None]


def test_booking_funnel_restatements(rows: Tables, query: Query) -> None:
    versions: dict[tuple[str, date | None], list[Version]] = defaultdict(list)
    for table, since, until in (
        ("history.booking_sessions", "_valid_from", "_valid_to"),
        ("booking_sessions", "_loaded_at", "_deleted_at"),
    ):
        for row in rows[table]:
            versions[row["practice_id"], local_day(row)].append((row, row[since], row[until]))
    expected: Cells = {}
    for (practice, day), seen in versions.items():
        now = five_counts(row for row, _, until in seen if until is None)
        then = reported(practice, day, seen)
        pairs = [number for pair in zip(then or (None,) * 5, now, strict=True) for number in pair]
        expected[practice, day] = (*pairs, None if then is None else then != now)

    assert {True, False, None} == {cell[-1] for cell in expected.values()}
    assert_equal(expected, cells(query("select * from marts.booking_funnel_restatements"), key_width=2))


def reported(practice: str, day: date | None, versions: list[Version]) -> tuple[int, ...] | None:
    """The counts of a report 24 hours after the day's end; nothing where there could be none."""
    if practice not in ZONES or day is None:
        return None
    end = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(ZONES[practice])).astimezone(UTC)
    report = end + timedelta(days=1)
    if end > SOURCE_CLOCK or min(since for _, since, _ in versions) > report:
        return None
    return five_counts(row for row, since, until in versions if since <= report and (not until or until > report))


def five_counts(sessions: Iterable[Row]) -> tuple[int, ...]:
    found = list(sessions)
    return (
        len(found),
        *(
            count(found, lambda row, s=status: row["status"] == s)
            for status in ("completed", "abandoned", "active")
        ),
        count(found, lambda row: bool(row["appointment_id"] or row["remote_appointment_id"])),
    )


def test_a_report_told_other_numbers(query: Query) -> None:
    """The comparison above is worth something only where each of the five numbers moved on some day."""
    names: list[str] = ["sessions", "completed", "abandoned", "active", "with_appointment"]
    moved: list[Any] = [f"count(*) filter (where {name}_then != {name})" for name in names]
    (found,) = query(f"select {', '.join(moved)} from marts.booking_funnel_restatements")

    assert all(found), found
