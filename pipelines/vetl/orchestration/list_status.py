"""Read the status of each list from the snapshot beside the warehouse, which needs no lock."""

from collections import Counter
from dataclasses import replace
from datetime import datetime

from vetl import bundled
from vetl.settings import Settings
from vetl.store.control.activity import Activity, read_activity
from vetl.store.control.snapshot import Attempt, ListStatus, read_snapshot


def list_statuses(settings: Settings) -> list[ListStatus]:
    """Return the lists of configured practices that a sync has tried; nothing before the first sync."""
    snapshot = read_snapshot(settings.warehouse.path, bundled.migrations())
    configured = {practice.id for practice in settings.practices}
    sync = read_activity(settings.warehouse.path, "sync")
    return [
        _failed_since(item, item.attempt, sync)
        for item in (snapshot.lists if snapshot else ())
        if item.practice_id in configured and item.attempt
    ]


def rows_of_tables(settings: Settings) -> dict[str, int]:
    """Return the rows of the table of each list, of every practice, also of those that a run did not read."""
    snapshot = read_snapshot(settings.warehouse.path, bundled.migrations())
    rows: Counter[str] = Counter()
    for item in snapshot.lists if snapshot else ():
        rows[item.endpoint] += item.rows
    return dict(rows)


def _failed_since(item: ListStatus, attempt: Attempt, sync: Activity | None) -> ListStatus:
    """Return a list as failed if a later sync failed as a whole, since such a sync records no attempt."""
    if not sync or sync.outcome != "failed" or not sync.finished_at:
        return item
    if datetime.fromisoformat(sync.finished_at) < datetime.fromisoformat(attempt.finished):
        return item
    return replace(item, state="failed", attempt=replace(attempt, reason=sync.error or "the last sync failed"))
