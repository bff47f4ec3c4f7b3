"""The tables that webhooks fill, as assets. One step moves the inbox into all of them."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from vetl.endpoints.received import RECEIVED
from vetl.jobs.drain import run_drain
from vetl.orchestration.checks_now import checked_if_it_fails
from vetl.orchestration.keys import WRITER_POOL, raw_key
from vetl.orchestration.lock_wait import wait_for_lock
from vetl.orchestration.metadata import bullets
from vetl.orchestration.raw_tables import RawTables
from vetl.orchestration.resources import VetlResource, as_failures
from vetl.settings import Settings


def received_tables(tables: RawTables) -> dg.AssetsDefinition:
    """Return the raw tables of deliveries, and of messages, which are fetched by id."""

    @dg.multi_asset(
        name="drain_webhooks",
        specs=[tables.raw_table(endpoint) for endpoint in RECEIVED],
        pool=WRITER_POOL,
    )
    def drain_webhooks(context: dg.AssetExecutionContext, vetl: VetlResource) -> Iterator[Any]:
        """Drain the inbox of webhooks into raw, and read messages by id."""
        settings = vetl.settings()
        yield from checked_if_it_fails(settings, _drained(context, settings))

    return drain_webhooks


def _drained(context: dg.AssetExecutionContext, settings: Settings) -> Iterator[dg.MaterializeResult[Any]]:
    """Drain the inbox. If a message cannot be fetched, a note names it, and the next drain fetches it."""
    with as_failures():
        wait_for_lock(settings, context.log.info)
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
