"""List, acknowledge and retry the rows in quarantine."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby

from vetl.core.errors import WarehouseError, WrongUse
from vetl.core.list_read import ReportProgress
from vetl.core.pages import Changes
from vetl.core.steps import MergeRows
from vetl.endpoints import REGISTRY
from vetl.jobs.sync import run_sync
from vetl.publishing.statements import query
from vetl.receiving.inbox import Entry
from vetl.receiving.into_warehouse import EVENTS, intakes
from vetl.settings import Settings
from vetl.store.control.bad_rows import QUARANTINED, QuarantinedRow
from vetl.store.deliveries import take_in
from vetl.store.notes import refuse_newer
from vetl.store.pseudonyms import GONE
from vetl.store.warehouse import Place, Warehouse, existing, new_run_id, opened, writing


@dataclass(frozen=True, slots=True)
class Retried:
    """The number of rows that were in quarantine before, and the rows that are still in it."""

    before: int
    held: tuple[QuarantinedRow, ...]
    changes: Changes

    @property
    def exit_code(self) -> int:
        """Return 3 if a row in quarantine is not acknowledged."""
        return 3 if any(row.acknowledged_at is None for row in self.held) else 0


def quarantined_rows(place: Place) -> list[QuarantinedRow]:
    """Return the rows in quarantine."""
    existing(place)
    refuse_newer(place.path)
    # An account that may only read needs no lock. Behind a writer, or in a file to be migrated, the lock is right.
    with suppress(WarehouseError, WrongUse):
        return [QuarantinedRow(*row) for row in query(place.path, QUARANTINED).rows]
    with opened(place) as warehouse:
        return warehouse.quarantined_rows()


def acknowledge(
    place: Place,
    reason: str,
    *,
    practices: Sequence[str] | None = None,
    endpoints: Sequence[str] | None = None,
    row_keys: Sequence[str] | None = None,
) -> tuple[list[QuarantinedRow], list[QuarantinedRow]]:
    """Mark the rows of these practices, lists and ids as known; return them and the rows that are not marked."""
    existing(place)
    with opened(place) as warehouse:
        rows = warehouse.quarantined_rows()
        chosen = [
            row
            for row in rows
            if (not practices or row.practice_id in practices)
            and (not endpoints or row.endpoint in endpoints)
            and (not row_keys or row.row_key in row_keys)
        ]
        if not chosen:
            raise WrongUse("no such row is in quarantine; `vetl quarantine list` shows practice, list and row")
        warehouse.acknowledge(chosen, reason)
    return chosen, [row for row in rows if row not in chosen and row.acknowledged_at is None]


def retry(settings: Settings, progress: ReportProgress) -> Retried:
    """Store rows in quarantine again: calls by a new read of their days, other rows from their stored bytes."""
    existing(settings.warehouse)
    with writing(settings.warehouse):
        return _retried(settings, progress)


def _retried(settings: Settings, progress: ReportProgress) -> Retried:
    with opened(settings.warehouse) as warehouse:
        warehouse.times_without_offset = settings.partner.times_without_offset
        rows = warehouse.quarantined_rows()
        before = [row for row in rows if row.payload != GONE]
        changes = _take_in(warehouse, before) + _take_in_deliveries(warehouse, before)
    by_day = {item.name for item in REGISTRY if not item.strategy.has_ids}
    practices = sorted({row.practice_id for row in before if row.endpoint in by_day})
    configured = [practice.id for practice in settings.practices if practice.id in practices]
    if configured:
        days = [row.first_day for row in before if row.endpoint in by_day and row.first_day]
        result = run_sync(
            settings,
            practices=configured,
            endpoints=sorted(by_day),
            since=min(days, default=None),
            progress=progress,
        )
        changes = sum((item.changes for item in result.results), changes)
    return Retried(len(rows), tuple(quarantined_rows(settings.warehouse)), changes)


def _take_in(warehouse: Warehouse, quarantined: list[QuarantinedRow]) -> Changes:
    """Merge the stored rows of lists whose rows have ids, in one commit for each list."""
    lists = {item.name: item for item in REGISTRY if item.strategy.has_ids}
    rows = [row for row in quarantined if row.endpoint in lists and not row.is_cut]
    run_id = new_run_id(datetime.now(UTC))
    changes = Changes()
    for (practice_id, name), group in groupby(rows, key=lambda row: (row.practice_id, row.endpoint)):
        times = warehouse.times(practice_id, lists[name])
        saves = [MergeRows([times.read(json.loads(row.payload))], row.last_seen) for row in group]
        changes += warehouse.commit(run_id, practice_id, lists[name], saves)
    return changes


def _take_in_deliveries(warehouse: Warehouse, quarantined: list[QuarantinedRow]) -> Changes:
    """Store deliveries of webhooks again; the message of an event is stored with its event."""
    channels = {endpoint.name: channel for channel, endpoint in EVENTS.items()}
    run_id = new_run_id(datetime.now(UTC))
    changes = Changes()
    for row in quarantined:
        if row.endpoint in channels:
            body, received_at = _delivery(row)
            entry = Entry(channels[row.endpoint], row.practice_id, body, received_at)
            events, *messages = intakes([entry])
            changes += take_in(warehouse, run_id, [replace(events, settles=[row.row_key]), *messages])
    return changes


def _delivery(row: QuarantinedRow) -> tuple[bytes, datetime]:
    """Return the body and the arrival of a delivery, from the row of its event or from its own bytes."""
    try:
        event = json.loads(row.payload)
        return json.dumps(event["body"]).encode(), datetime.fromisoformat(event["received_at"])
    except (ValueError, TypeError, KeyError):
        return row.payload.encode(), row.first_seen
