"""The raw tables as assets: those of lists, of webhooks, and vetl's own records."""

from collections.abc import Iterator, Mapping
from inspect import getfile
from pathlib import Path
from typing import Any

import dagster as dg

from vetl.core.endpoint import Endpoint
from vetl.endpoints import RECEIVED
from vetl.jobs.dbt_process import one_line
from vetl.jobs.drain import run_drain
from vetl.orchestration.checks import checked_if_it_fails
from vetl.orchestration.metadata import bullets, code_in, documented_in
from vetl.orchestration.resources import WRITER_POOL, VetlResource, as_failures, raw_key
from vetl.settings import Settings
from vetl.store.tables import BOOKKEEPING

ELSEWHERE = "lists"
"""The group of a table whose staging model has none."""

_OTHERS = {
    "control": "Records of vetl's own work, written by each sync.",
    "history": "Superseded versions of rows, written by each sync.",
}


class RawTables:
    """The sources and models of dbt's manifest."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._models = {node["name"]: node for node in manifest["nodes"].values()}
        self._owners = owners(next((node for node in self._models.values() if owners(node)), {}))
        self._sources = {(node["source_name"], node["name"]): node for node in manifest["sources"].values()}

    def raw_table(self, endpoint: Endpoint) -> dg.AssetSpec:
        """Return the asset of a raw table, with the columns of the list and the group of its staging model."""
        source = self._sources.get(("partner", endpoint.table), {})
        staged = self._models.get(f"stg_partner__{endpoint.table}", {})
        columns = [("practice_id", "VARCHAR"), *((item.name, item.kind.value) for item in endpoint.columns())]
        return dg.AssetSpec(
            raw_key(endpoint.table),
            description=one_line(source.get("description", "")),
            group_name=staged.get("config", {}).get("group") or ELSEWHERE,
            owners=owners(source) or self._owners,
            kinds={"python", "duckdb"},
            skippable=True,
            metadata={
                "dagster/table_name": f"raw.{endpoint.table}",
                "dagster/column_schema": dg.TableSchema(
                    columns=[dg.TableColumn(name, kind) for name, kind in [*columns, *BOOKKEEPING]]
                ),
                "source": f"/services/core/open_api/v1/{endpoint.path}",
                **code_in(Path(getfile(endpoint.record))),
                **documented_in("lossless.md"),
            },
        )

    def others(self) -> list[dg.AssetSpec]:
        """Return the assets that models read beside the lists: vetl's own records and superseded rows."""
        return [
            dg.AssetSpec(
                [schema, name],
                description=one_line(node["description"]) or _OTHERS[schema],
                group_name=schema,
                owners=self._owners,
                kinds={"duckdb"},
            )
            for (schema, name), node in self._sources.items()
            if schema in _OTHERS
        ]


def owners(node: Mapping[str, Any]) -> list[str]:
    """Return the owner that dbt's `meta` names in Dagster's form: an e-mail address, or `team:name`."""
    owner = {**node.get("meta", {}), **node.get("config", {}).get("meta", {})}.get("owner")
    return [owner if "@" in owner else f"team:{owner}"] if owner else []


def received_tables(tables: RawTables) -> dg.AssetsDefinition:
    """Return the raw tables of deliveries, and of messages, which are fetched by id; one step fills them all."""

    @dg.multi_asset(
        name="drain_webhooks",
        specs=[tables.raw_table(endpoint) for endpoint in RECEIVED],
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
