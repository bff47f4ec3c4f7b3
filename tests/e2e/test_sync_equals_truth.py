"""After a sync of a source at rest the warehouse equals it: row by row, value by value, on every list."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
from support.truth import lacking_details

Opened = Callable[..., Any]


def certified(result: Any) -> bool:
    return all(item.state == "certified" for item in result.results)


def written(warehouse: Path) -> dict[str, Any]:
    """Return everything in raw and history, to compare two states."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        tables = connection.execute(
            "select table_schema, table_name from information_schema.tables "
            "where table_schema in ('raw', 'history') order by all"
        ).fetchall()
        return {
            f"{schema}.{table}": connection.execute(
                f"select count(*), bit_xor(hash(t::varchar)) from {schema}.{table} t"
            ).fetchone()
            for schema, table in tables
        }


def test_each_sync_reads_all_that_is_new_and_proves_it(opened: Opened) -> None:
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


def test_across_both_changes_of_the_clocks(opened: Opened) -> None:
    """A year has both changes of the clock; calls in the repeated hour are distinct, although long past."""
    practices = opened(days=365, calls=4000, practices=3, seed=11)

    result = practices.sync(endpoints=["phone_calls"])

    assert certified(result)
    assert practices.differences(("phone_calls",)) == []
