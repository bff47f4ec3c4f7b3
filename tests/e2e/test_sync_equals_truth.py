"""After a sync of a source at rest the warehouse equals it, value by value, on every list, at little cost."""

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.lists import PAGED
from support.truth import lacking_details
from support.warehouse_with_rows import ask, by_table
from vetl.core.endpoint import DateWindows
from vetl.reading.crowded_day import PROVEN
from vetl.store import warehouse


def certified(result: Any) -> bool:
    return all(item.state == "certified" for item in result.results)


def written(warehouse: Path) -> dict[str, Any]:
    """Return everything in raw and history, to compare two states."""
    return by_table(warehouse, "raw", "history", value="(count(*), bit_xor(hash(t::varchar)))")


def test_each_sync_reads_all_that_is_new_and_proves_it(opened: Any) -> None:
    """The first sync, and syncs after hours, days and a month. Without changes no row is written."""
    practices = opened(calls=500)
    for pause in (timedelta(), timedelta(hours=3), timedelta(days=3), timedelta(days=30)):
        practices.platform.advance(pause)

        result = practices.sync()

        assert practices.differences() == []
        assert certified(result), result
        assert result.exit_code == 0
        assert lacking_details(practices.warehouse, practices.today) == 0
        if not pause:
            before = written(practices.warehouse)
            result = practices.sync()
            assert written(practices.warehouse) == before
            assert certified(result)
            assert all(item.changes.inserted == item.changes.updated == 0 for item in result.results)


def test_across_both_changes_of_the_clocks(opened: Any) -> None:
    """A year has both changes of the clock; calls in the repeated hour are distinct, although long past."""
    practices = opened(days=365, calls=4000, practices=3, seed=11)

    assert practices.mended(["phone_calls"])


def test_crowded_days_equal_the_source_and_change_nothing_once_they_fit(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few calls on a page stand for many calls a day. After the page size grows, the CSV shows the same rows."""
    monkeypatch.setattr(DateWindows, "csv_page_size", 3)
    practices = opened(days=14, calls=80, practices=1)

    assert practices.mended(["phone_calls"])
    proven = "select sum(rows) from control.windows where reason = ? and certified"
    [(rows,)] = ask(practices.warehouse, proven, PROVEN)
    assert rows > 20
    monkeypatch.undo()
    practices.platform.advance(timedelta(days=8))
    again = practices.sync(endpoints=["phone_calls"], reconcile="full")

    assert again.exit_code == 0
    assert practices.differences(["phone_calls"]) == []
    assert ask(practices.warehouse, "from control.restatements") == []


PRACTICES = 6


class Counting:
    def __init__(self, connection: Any, counts: Counter[str]) -> None:
        self._connection = connection
        self._counts = counts

    def __getattr__(self, name: str) -> Any:
        if name in ("execute", "executemany", "sql", "begin"):
            self._counts["transactions" if name == "begin" else "statements"] += 1
        return getattr(self._connection, name)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    counts: Counter[str] = Counter()
    attach = warehouse.attach

    def attach_counting(*arguments: Any, **named: Any) -> Counting:
        return Counting(attach(*arguments, **named), counts)

    monkeypatch.setattr(warehouse, "attach", attach_counting)
    return counts


def test_a_sync_without_news_costs_little(opened: Any, counts: Counter[str]) -> None:
    practices = opened(practices=PRACTICES, calls=300, days=15)
    practices.sync(endpoints=PAGED)
    counts.clear()

    result = practices.sync(endpoints=PAGED)

    assert {item.state for item in result.results} == {"certified"}
    changes = [item.changes for item in result.results]
    assert sum(item.inserted + item.updated + item.deleted for item in changes) == 0
    assert sum(item.requests for item in result.results) <= 20 * PRACTICES
    assert counts["transactions"] <= 3 * PRACTICES
    assert counts["statements"] <= 30 * PRACTICES
