"""Changes without a trace, which no sync can see: reconcile finds, repairs and records them."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

Opened = Callable[..., Any]
EVERY_LIST = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")
SILENT_EDIT = {
    "phone_calls": "summary",
    "booking_sessions": "referral_source",
    "appointments": "client_email",
    "ai_outbound": "context",
    "staff_tasks": "description",
}


def restatements(warehouse: Path) -> set[tuple[Any, ...]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return set(
            connection.execute(
                "select endpoint, kind, array_to_string(columns, ',') from control.restatements"
            ).fetchall()
        )


def some_row(practices: Any, practice: str, name: str, days_ago: int, but: str = "") -> dict[str, Any]:
    """Return a settled row of about that age, with another id than `but`."""
    until = (practices.platform.now() - timedelta(days=days_ago)).isoformat()
    rows = [
        row
        for row in practices.platform.truth(practice, name)
        if row.get("updated_at", row["created_at"]) < until
        and row["id"] != but
        and row.get("status") not in ("active", "pending", "received", "queued", "in_progress")
    ]
    return max(rows, key=lambda row: row["created_at"])


@pytest.mark.parametrize(("full", "days_ago"), [("recent", 10), ("full", 45)])
def test_edits_and_deletions_without_a_trace_are_repaired_and_recorded(
    opened: Opened, full: str, days_ago: int
) -> None:
    practices = opened(practices=1, calls=800)
    practices.sync()
    for name in EVERY_LIST:
        edited = some_row(practices, "loc-001", name, days_ago)
        practices.platform.update("loc-001", name, edited["id"], {SILENT_EDIT[name]: "restated"})
        deleted = some_row(practices, "loc-001", name, days_ago + 3, but=edited["id"])
        practices.platform.delete("loc-001", name, deleted["id"])
    practices.platform.advance(timedelta(minutes=5))

    result = practices.sync(reconcile=full)

    assert practices.differences() == []
    assert result.exit_code == 0, result
    recorded = restatements(practices.warehouse)
    vanished = {(name, "vanished", "") for name in EVERY_LIST}
    changed = {(name, "changed", SILENT_EDIT[name]) for name in EVERY_LIST}
    assert recorded == vanished | changed, "other rows are restated"
