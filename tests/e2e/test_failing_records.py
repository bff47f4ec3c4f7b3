"""A platform that fails (5xx) on each answer with one record: the others are read, and a line names it."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from support.lying_proxy import lying
from support.sandbox_settings import at
from support.warehouse_with_rows import ask
from vetl.endpoints import by_name

PRACTICE = "loc-001"
WORLD = {"practices": 1, "calls": 1500, "days": 100}
UNDATED = ("staff_tasks", "ai_outbound")


def newest_first(practices: Any, name: str) -> list[dict[str, Any]]:
    rows = practices.platform.truth(PRACTICE, name)
    return sorted(rows, key=lambda row: row["created_at"], reverse=True)


@contextmanager
def failing_on(practices: Any, *rows: dict[str, Any]) -> Generator[None]:
    settings, ids = practices.settings, [f'"id":"{row["id"]}"' for row in rows]

    def is_broken(content: str) -> bool:
        return any(one in content.replace('": "', '":"') for one in ids)

    with lying(practices.platform.base_url, broken=is_broken) as base_url:
        practices.settings = at(settings, base_url)
        yield
        practices.settings = settings


def stored(practices: Any, name: str) -> set[str]:
    table = by_name(name).table
    return {key for (key,) in ask(practices.warehouse, f"select id from raw.{table} where _deleted_at is null")}


@pytest.mark.parametrize("name", UNDATED)
@pytest.mark.parametrize("place", [0, 110, -1])
def test_a_first_sync_reads_around_a_row_and_the_next_one_brings_it(opened: Any, name: str, place: int) -> None:
    """On the first page of the list it fails even the first look at its parameters."""
    practices = opened(**WORLD)
    rows = newest_first(practices, name)
    assert len(rows) > 110
    with failing_on(practices, rows[place]):
        result = practices.sync(endpoints=[name])

        assert result.exit_code == 3
        assert result.results[0].reason.startswith(f"row {place % len(rows) + 1}: GET ")
        assert "500 Internal Server Error" in result.results[0].reason
        assert stored(practices, name) == {str(row["id"]) for row in rows} - {str(rows[place]["id"])}
    assert practices.mended([name])


@pytest.mark.parametrize("name", [*UNDATED, "booking_sessions"])
@pytest.mark.parametrize("place", [0, 40])
def test_a_row_that_was_stored_stays_and_new_ones_come(opened: Any, name: str, place: int) -> None:
    practices = opened(**WORLD | {"days": 8, "calls": 300})
    assert practices.mended([name])
    rows = newest_first(practices, name)
    with failing_on(practices, rows[min(place, len(rows) - 1)]):
        for _ in range(2):
            practices.platform.advance(timedelta(hours=30))
            now = practices.platform.now().isoformat()
            fields = {"created_at": now} if name == "ai_outbound" else {"created_at": now, "updated_at": now}
            status = {"staff_tasks": "pending", "ai_outbound": "received", "booking_sessions": "active"}[name]
            practices.platform.insert(PRACTICE, name, {**fields, "status": status})
            assert practices.sync(endpoints=[name]).exit_code != 1
        assert stored(practices, name) == {str(row["id"]) for row in newest_first(practices, name)}
    assert practices.mended([name])


@pytest.mark.parametrize("name", ["booking_sessions", "appointments"])
def test_the_latest_row_keeps_no_closed_window_from_being_read(opened: Any, name: str) -> None:
    practices = opened(**WORLD | {"days": 20, "calls": 300})
    latest = max(practices.platform.truth(PRACTICE, name), key=lambda row: row["updated_at"])
    with failing_on(practices, latest):
        for _ in range(2):
            result = practices.sync(endpoints=[name])
            assert result.exit_code == 3
            assert "500 Internal Server Error" in result.results[0].reason
    assert str(latest["id"]) not in stored(practices, name)
    assert practices.mended([name])


@pytest.mark.parametrize("name", UNDATED)
def test_a_list_with_more_such_rows_than_a_few_fails_in_one_line(opened: Any, name: str) -> None:
    practices = opened(**WORLD)
    with failing_on(practices, *newest_first(practices, name)[:60:10]):
        result = practices.sync(endpoints=[name])

    assert (result.exit_code, result.results[0].state) == (1, "failed")
    assert "500 Internal Server Error" in result.results[0].reason
    assert practices.mended([name])
