"""The published file as an asset."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from vetl import hooks
from vetl.jobs.build import publish_marts
from vetl.orchestration.checks_now import checked_if_it_fails
from vetl.orchestration.keys import PUBLISHED, WRITER_POOL
from vetl.orchestration.lock_wait import retry_while_locked
from vetl.orchestration.metadata import chart, table
from vetl.orchestration.resources import VetlResource, as_failures
from vetl.publishing.statements import query
from vetl.settings import Settings

_CALLS_BY_DAY = """
select day::varchar, sum(calls) from marts.booking_intent_daily
where day > (select max(today) - 28 from marts.practices) group by day order by day
"""


def published_file(marts: Sequence[dg.AssetKey]) -> dg.AssetsDefinition:
    """Return the asset of the published file, which is replaced once all marts are built."""

    @dg.asset(
        key=PUBLISHED,
        deps=list(marts),
        description="Only the marts, with personal data masked. One rename replaces the file: never half built.",
        group_name="published",
        owners=["team:analytics"],
        kinds={"duckdb"},
        pool=WRITER_POOL,
    )
    def published(context: dg.AssetExecutionContext, vetl: VetlResource) -> Iterator[Any]:
        settings = vetl.settings()
        yield from checked_if_it_fails(settings, _replaced(context, settings))

    return published


def _replaced(context: dg.AssetExecutionContext, settings: Settings) -> Iterator[dg.MaterializeResult[Any]]:
    """Replace the published file as soon as no other process holds the warehouse."""
    with as_failures():
        result = retry_while_locked(settings, context.log.info, lambda: publish_marts(settings))
        calls = query(settings.warehouse.published, _CALLS_BY_DAY)
    for line in hooks.after_publication(settings):
        context.log.warning(line)
    yield dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(settings.warehouse.published),
            "tables": len(result.tables),
            "rows": sum(result.tables.values()),
            "bytes": settings.warehouse.published.stat().st_size,
            "calls_of_28_days": chart({day: float(count) for day, count in calls.rows}),
            "marts": table(("mart", "rows"), sorted(result.tables.items())),
        }
    )
