"""Days of calls that exceed one page of the CSV, over HTTP and into the warehouse."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pytest

from pipelines.core.endpoint import DateWindows
from pipelines.strategies.phone_calls.crowded_days import PROVEN

Opened = Callable[..., Any]


def test_crowded_days_equal_the_source_and_change_nothing_once_they_fit(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few calls on a page stand for many calls a day. After the page size grows, the CSV shows the same rows."""
    monkeypatch.setattr(DateWindows, "csv_page_size", 3)
    practices = opened(days=14, calls=80, practices=1)

    assert practices.sync(endpoints=["phone_calls"]).exit_code == 0

    assert practices.differences(["phone_calls"]) == []
    with duckdb.connect(str(practices.warehouse), read_only=True) as connection:
        proven = "select sum(rows) from control.windows where reason = ? and certified"
        ((rows,),) = connection.execute(proven, [PROVEN]).fetchall()
    assert rows > 20
    monkeypatch.undo()
    practices.platform.advance(timedelta(days=8))
    again = practices.sync(endpoints=["phone_calls"], reconcile="full")

    assert again.exit_code == 0
    assert practices.differences(["phone_calls"]) == []
    with duckdb.connect(str(practices.warehouse), read_only=True) as connection:
        assert connection.execute("from control.restatements").fetchall() == []


def test_a_crowded_day_without_an_end_is_read_more_and_more_rarely(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    practices = opened(days=14, calls=120, practices=1)
    zone = ZoneInfo(practices.settings.practices[0].time_zone)
    calls = practices.platform.truth("loc-001", "phone_calls")
    day_of = {call["id"]: datetime.fromisoformat(call["created_at"]).astimezone(zone).date() for call in calls}
    days = Counter(day_of.values())
    today = practices.platform.now().astimezone(zone).date()
    day, size = max(((day, count) for day, count in days.items() if day < today), key=lambda item: item[1])
    assert days[today] < size
    monkeypatch.setattr(DateWindows, "csv_page_size", size)
    stuck = next(identity for identity, date in day_of.items() if date == day)
    practices.platform.update("loc-001", "phone_calls", stuck, {"state": "in_progress"})
    practices.sync(endpoints=["phone_calls"])

    hourly: list[int] = []
    for _ in range(5):
        practices.platform.advance(timedelta(minutes=50))
        hourly += [item.requests for item in practices.sync(endpoints=["phone_calls"]).results]
    practices.platform.update("loc-001", "phone_calls", stuck, {"state": "completed"})
    practices.platform.advance(timedelta(days=1))
    next_day = practices.sync(endpoints=["phone_calls"])

    assert max(hourly) <= 2  # today, and the details of its calls; the crowded day takes four requests
    assert next_day.exit_code == 0
    assert practices.differences(["phone_calls"]) == []
