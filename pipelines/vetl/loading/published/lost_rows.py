"""Notice a build that loses most rows of a mart, before its result replaces the published file."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError
from vetl.loading.connection import literal
from vetl.loading.published.marts import count, marts_of

_FEW = 20
"""A mart with fewer rows may lose them all in an ordinary hour."""

_SHRINKING = frozenset({"calls_forecast", "leak_list", "leaks", "unknown_values"})
"""Marts whose rows go when somebody works through them, or the source mends a value."""


def refuse_lost_rows(connection: duckdb.DuckDBPyConnection, published: Path, tables: Mapping[str, int]) -> None:
    """Compare the numbers of rows by mart with those of the published file.

    Raises:
        WarehouseError: a mart has lost more than half of its rows.
    """
    if not published.exists() or not published.stat().st_size:
        return
    connection.execute(f"attach {literal(str(published))} as before (read_only)")
    had = {
        name: count(connection, "before", name)
        for name in marts_of(connection, "before").keys() & tables.keys() - _SHRINKING
    }
    connection.execute("detach before")
    lost = [name for name, rows in sorted(had.items()) if rows >= _FEW and tables[name] < rows / 2]
    if lost:
        name, more = lost[0], f" and {len(lost) - 1} more marts" if len(lost) > 1 else ""
        raise WarehouseError(
            f"{published}: stays as it was: marts.{name}{more} lost most rows ({had[name]:,} to {tables[name]:,});"
            " `vetl publish --accept-loss` publishes them so"
        )
