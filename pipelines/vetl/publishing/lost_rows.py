"""Notice a build that loses most rows of a mart, before its result replaces the published file."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError
from vetl.core.published import DIGESTS, schema_of
from vetl.publishing.marts import count, marts_of
from vetl.store.connection import literal

_FEW = 20
"""A mart with fewer rows may lose them all in an ordinary hour."""

_SHRINKING = frozenset({"calls_forecast", "call_back_list", "unknown_values", "unbooked_requests"})
"""Marts whose rows go when somebody works through them, or the source mends a value."""


def rows_of(connection: duckdb.DuckDBPyConnection, file: Path) -> dict[str, int]:
    """Return the number of rows of each mart in a published file, or none if there is no file."""
    if not file.exists() or not file.stat().st_size:
        return {}
    connection.execute(f"attach {literal(str(file))} as before (read_only)")
    rows = {name: count(connection, "before", name) for name in marts_of(connection, "before") if name != DIGESTS}
    connection.execute("detach before")
    return rows


def refuse_lost_rows(before: Mapping[str, int], now: Mapping[str, int], published: Path) -> None:
    """Compare the numbers of rows by mart."""
    lost = [
        name
        for name in sorted(before.keys() & now.keys() - _SHRINKING)
        if before[name] >= _FEW and now[name] < before[name] / 2
    ]
    if lost:
        name, more = lost[0], f" and {len(lost) - 1} more marts" if len(lost) > 1 else ""
        raise WarehouseError(
            f"{published}: stays as it was: {schema_of(name)}.{name}{more} lost most rows"
            f" ({before[name]:,} to {now[name]:,}); `vetl publish --accept-loss` publishes them so"
        )
