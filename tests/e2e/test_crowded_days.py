"""Days of calls that do not fit one page of the CSV, over HTTP and into the warehouse."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import duckdb
import pytest

from pipelines.endpoint import DateWindows
from pipelines.strategies.crowded_days import PROVEN

Opened = Callable[..., Any]


def test_crowded_days_equal_the_source_and_change_nothing_once_they_fit(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few calls on a page stand for many a day. When pages become larger, the CSV shows the same rows."""
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
