"""A practice that was not read for days: it is named, its periods end with its data, it is not compared."""

import os
import shutil
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from board.freshness import Practice, comparable
from support.dashboard_pages import Copied, Open, shown

SESSIONS = (
    "select sum(sessions)::bigint from marts.booking_funnel_daily where practice_id = ? and day between ? and ?"
)


def one(file: Path, sql: str, *values: object) -> tuple[Any, ...]:
    with duckdb.connect(file, read_only=True) as connection:
        row = connection.execute(sql, values).fetchone()
    assert row
    return row


def practice(file: Path, key: str) -> tuple[str, date]:
    """Return the name of a practice, and the last day that is over in all of its sessions."""
    return one(
        file,
        """select name, timezone(time_zone, certified_through)::date - 1 from marts.practices
           join meta.proof using (practice_id) where practice_id = ? and endpoint = 'booking_sessions'""",
        key,
    )


def sessions(file: Path, key: str, until: date) -> str:
    return f"{one(file, SESSIONS, key, until - timedelta(days=6), until)[0]:,}"


@pytest.mark.parametrize("path", ["", "call-back"])
def test_a_page_names_who_is_behind(opened: Open, stale: Path, path: str) -> None:
    """Each page, with days or without, is drawn below the same banner."""
    page = opened(path, stale)

    assert not page.exception
    [banner] = [shown(warning.value) for warning in page.warning if "Behind the newest data" in warning.value]
    assert practice(stale, "loc-002")[0] in banner
    assert practice(stale, "loc-003")[0] in banner
    assert practice(stale, "loc-001")[0] not in banner


def test_comparisons_leave_out_who_is_behind(opened: Open, stale: Path) -> None:
    _, until = practice(stale, "loc-001")
    page = opened("online-booking", stale, period="7")

    assert str(page.metric[0].value) == sessions(stale, "loc-001", until)


def test_periods_end_with_the_data_of_a_practice(opened: Open, stale: Path) -> None:
    _, until = practice(stale, "loc-002")
    page = opened("online-booking", stale, period="7", practice="loc-002")

    assert practice(stale, "loc-001")[1] - until == timedelta(days=3)
    assert str(page.metric[0].value) == sessions(stale, "loc-002", until)
    assert any("periods of this page end there" in warning.value for warning in page.warning)


def test_data_health_judges_each_practice(opened: Open, stale: Path) -> None:
    page = opened("health", stale)

    verdicts = dict(zip(*(page.dataframe[0].value[name] for name in ("practice", "verdict")), strict=True))
    assert verdicts == {
        practice(stale, "loc-001")[0]: "Whole",
        practice(stale, "loc-002")[0]: "Behind by 3 days",
        practice(stale, "loc-003")[0]: "Behind by 3 days",
    }
    assert not page.success
    assert any("1 practice is whole and up to date, of 3" in info.value for info in page.info)


def test_a_file_that_is_old_itself_is_said(opened: Open, stale: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(stale, tmp_path / "analytics.duckdb"))
    then = file.stat().st_mtime - timedelta(days=9).total_seconds()
    os.utime(file, (then, then))

    assert any("Nothing was published for 9 days" in warning.value for warning in opened("tasks", file).warning)


def test_a_practice_that_joined_a_group_is_left_out_of_the_comparison(opened: Open, copied: Copied) -> None:
    """A group would grow in the figures as another practice joins it."""
    alone = opened("online-booking", practice="loc-001").metric[0].delta
    file = copied(
        """update marts.practices set history_start = today - 20 where practice_id = 'loc-002';
           delete from marts.booking_funnel_daily as sessions using marts.practices as practices
           where sessions.practice_id = practices.practice_id and sessions.day < practices.history_start"""
    )
    page = opened("online-booking", file)

    assert page.metric[0].delta == alone
    assert any("The comparison leaves out Saguaro" in caption.value for caption in page.caption)


def test_a_read_after_midnight_is_not_behind() -> None:
    """The platform proves a quarter of an hour less than now: at 00:10 yesterday is not whole yet."""

    def at(key: str, complete_until: datetime) -> Practice:
        start = date(2026, 1, 1)
        return Practice(key, key, None, "UTC", start, datetime(2026, 2, 3, 0, 10), complete_until)  # noqa: DTZ001 - a wall clock

    late, whole = at("a", datetime(2026, 2, 2, 23, 55)), at("b", datetime(2026, 2, 3))  # noqa: DTZ001 - wall clocks
    assert not late.is_behind
    assert comparable([late, whole]) == [late, whole]
