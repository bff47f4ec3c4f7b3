"""The cost of a sync without changes, counted in requests, transactions and statements instead of seconds."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pipelines.loading import warehouse

LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")
PRACTICES = 6


class Counting:
    """A connection that counts its statements."""

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


def test_a_sync_without_news_costs_little(opened: Callable[..., Any], counts: Counter[str]) -> None:
    practices = opened(practices=PRACTICES, calls=300, days=15)
    practices.sync(endpoints=LISTS)
    counts.clear()

    result = practices.sync(endpoints=LISTS)

    assert {item.state for item in result.results} == {"certified"}
    changes = [item.changes for item in result.results]
    assert sum(item.inserted + item.updated + item.deleted for item in changes) == 0
    assert sum(item.requests for item in result.results) <= 20 * PRACTICES
    assert counts["transactions"] <= 3 * PRACTICES
    assert counts["statements"] <= 30 * PRACTICES
