"""The raw tables of deliveries as assets; one step fills them from the inbox."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from vetl.endpoints import RECEIVED
from vetl.jobs.drain import run_drain
from vetl.orchestration.checks import checked_if_it_fails
from vetl.orchestration.metadata import bullets
from vetl.orchestration.resources import WRITER_POOL, RawTables, VetlResource, as_failures, raw_key
from vetl.settings import Settings


def received_tables(tables: RawTables) -> dg.AssetsDefinition:
    """Return the raw tables of deliveries, and of messages, which are fetched by id; one step fills them all."""

    @dg.multi_asset(
        name="drain_webhooks",
        specs=[tables[raw_key(endpoint.table)] for endpoint in RECEIVED],
        pool=WRITER_POOL,
    )
    def drain_webhooks(vetl: VetlResource) -> Iterator[Any]:
        """Drain the inbox of webhooks into raw, and read messages by id."""
        settings = vetl.settings()
        yield from checked_if_it_fails(settings, _drained(settings))

    return drain_webhooks


def _drained(settings: Settings) -> Iterator[dg.MaterializeResult[Any]]:
    """Drain the inbox. If a message cannot be fetched, a note names it, and the next drain fetches it."""
    with as_failures():
        result = run_drain(settings)
    metadata = {
        "deliveries": result.deliveries,
        "asked_by_id": result.requested,
        "new": result.changes.inserted,
        "quarantined": result.changes.quarantined,
        "notes": bullets([*result.notes, *result.changes.drift]),
    }
    for endpoint in RECEIVED:
        yield dg.MaterializeResult(asset_key=raw_key(endpoint.table), metadata=metadata)
