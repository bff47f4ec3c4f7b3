"""The tables that webhooks fill, as assets. One step moves the inbox into all of them."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from vetl.endpoints.received import RECEIVED
from vetl.jobs.drain import run_drain
from vetl.orchestration.areas import Areas
from vetl.orchestration.lists import raw_key
from vetl.orchestration.lock_wait import wait_for_lock
from vetl.orchestration.metadata import bullets
from vetl.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from vetl.orchestration.unrun import keeping_results
from vetl.settings import Settings


def received_tables(areas: Areas) -> dg.AssetsDefinition:
    """Return the raw tables of deliveries, and of messages, which are fetched by id."""

    @dg.multi_asset(
        name="drain_webhooks",
        specs=[
            dg.AssetSpec(
                raw_key(endpoint.table),
                description=areas.description(endpoint.table),
                group_name=areas.of_table(endpoint.table),
                owners=areas.owners(endpoint.table),
                kinds={"python", "duckdb"},
                metadata=areas.metadata(endpoint),
            )
            for endpoint in RECEIVED
        ],
        pool=WRITER_POOL,
    )
    def drain_webhooks(context: dg.AssetExecutionContext, vetl: VetlResource) -> Iterator[Any]:
        """Drain the inbox of webhooks into raw, and read messages by id."""
        yield from keeping_results(context, _drained(context, vetl.settings()))

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
