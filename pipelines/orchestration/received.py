"""What webhooks brought, as assets: one step moves the inbox into all of their raw tables."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from pipelines.drain_job import run_drain
from pipelines.orchestration.assets import raw_key
from pipelines.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from pipelines.received import RECEIVED


@dg.multi_asset(
    name="drain_webhooks",
    specs=[
        dg.AssetSpec(
            raw_key(endpoint.table),
            description=f"{endpoint.name}, as webhooks told and get-by-id caught up.",
            group_name="partner",
            kinds={"duckdb"},
        )
        for endpoint in RECEIVED
    ],
    pool=WRITER_POOL,
)
def received_tables(vetl: VetlResource) -> Iterator[dg.MaterializeResult[Any]]:
    """Drain the inbox; what cannot be caught up now is told and tried by the next drain."""
    settings = vetl.settings()
    with as_failures():
        result = run_drain(settings)
    metadata = {
        "deliveries": result.deliveries,
        "asked_by_id": result.asked,
        "new": result.changes.inserted,
        "quarantined": result.changes.quarantined,
        "notes": dg.MetadataValue.md("".join(f"- {note}\n" for note in (*result.notes, *result.changes.drift))),
    }
    for endpoint in RECEIVED:
        yield dg.MaterializeResult(asset_key=raw_key(endpoint.table), metadata=metadata)


drain = dg.define_asset_job(
    "drain",
    selection=dg.AssetSelection.assets(received_tables),
    description="Move what webhooks brought into raw: what `vetl webhooks drain` does.",
)
