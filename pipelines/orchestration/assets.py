"""One asset for each list, from its declaration, and one for the published file."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from pipelines import jobs
from pipelines.cli_views import markdown
from pipelines.endpoint import ByReference, Endpoint
from pipelines.loading.query import Answer, query
from pipelines.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from pipelines.results import EndpointResult, SyncResult
from pipelines.sync_job import run_sync

RETRIES = dg.RetryPolicy(max_retries=3, delay=30, backoff=dg.Backoff.EXPONENTIAL)
"""For a platform that is down longer than the client's own retries last."""

_COUNT_ROWS = """
select table_name as mart, estimated_size as rows, column_count as columns
from duckdb_tables() where schema_name = 'marts' order by table_name
"""


def raw_key(table: str) -> dg.AssetKey:
    """The key of a raw table: what dagster-dbt makes of the dbt source `partner`."""
    return dg.AssetKey(["partner", table])


def list_asset(endpoint: Endpoint, retries: dg.RetryPolicy = RETRIES) -> dg.AssetsDefinition:
    """The raw table of one list, all practices in one go.

    A list that stays broken is no failure of this asset, or one list would keep all marts from being built:
    what is committed is kept, and its check `certified` fails the run instead.
    """

    @dg.asset(
        key=raw_key(endpoint.table),
        deps=_mentioned(endpoint),
        description=f"{endpoint.name} of all practices, as the platform has them.",
        group_name="partner",
        kinds={"duckdb"},
        pool=WRITER_POOL,
        retry_policy=retries,
    )
    def table(context: dg.AssetExecutionContext, vetl: VetlResource) -> dg.MaterializeResult[Any]:
        settings = vetl.settings()
        with as_failures():
            result = run_sync(
                settings,
                practices=None,
                endpoints=[endpoint.name],
                since=None,
                progress=lambda _progress: None,
            )
        if any(item.retryable for item in result.results) and context.retry_number < retries.max_retries:
            raise dg.Failure("; ".join(_line(item) for item in result.results if item.retryable))
        return dg.MaterializeResult(metadata=_metadata(result))

    return table


def published_file(marts: Sequence[dg.AssetKey]) -> dg.AssetsDefinition:
    """The file that analysts open, replaced once all marts are built."""

    @dg.asset(
        key=["published", "analytics"],
        deps=list(marts),
        description="The marts alone, personal data masked; replaced in one rename.",
        group_name="published",
        kinds={"duckdb"},
        pool=WRITER_POOL,
    )
    def published(vetl: VetlResource) -> dg.MaterializeResult[Any]:
        settings = vetl.settings()
        with as_failures():
            jobs.publish(settings)
            tables = query(settings.warehouse.published, _COUNT_ROWS)
        return dg.MaterializeResult(
            metadata={
                "path": dg.MetadataValue.path(settings.warehouse.published),
                "marts": dg.MetadataValue.md(markdown(tables)),
            }
        )

    return published


def _mentioned(endpoint: Endpoint) -> list[dg.AssetKey]:
    if not isinstance(endpoint.strategy, ByReference):
        return []
    tables = dict.fromkeys(table for table, _ in endpoint.strategy.mentions if table != endpoint.table)
    return [raw_key(table) for table in tables]


def _metadata(result: SyncResult) -> dict[str, Any]:
    results = result.results
    through = [item.certified_through for item in results if item.certified_through]
    notes = [f"{item.practice_id}: {note}" for item in results for note in item.notes]
    return {
        "dagster/row_count": sum(item.rows for item in results),
        "requests": sum(item.requests for item in results),
        "certified": all(item.state == "certified" for item in results),
        **({"certified_through": dg.MetadataValue.timestamp(min(through))} if through else {}),
        "changes": dg.MetadataValue.md(markdown(_changes(results))),
        **({"notes": dg.MetadataValue.md("".join(f"- {note}\n" for note in notes))} if notes else {}),
        "states": dg.MetadataValue.json(
            {item.practice_id: {"state": item.state, "reason": item.reason} for item in results}
        ),
    }


def _changes(results: Sequence[EndpointResult]) -> Answer:
    columns = ("practice", "state", "rows", "new", "changed", "deleted", "quarantined", "requests")
    return Answer(
        columns,
        [
            (
                *(item.practice_id, item.state, item.rows),
                *(
                    item.changes.inserted,
                    item.changes.updated,
                    item.changes.deleted,
                    item.changes.quarantined,
                ),
                item.requests,
            )
            for item in results
        ],
    )


def _line(item: EndpointResult) -> str:
    return f"{item.practice_id}: {item.reason}"
