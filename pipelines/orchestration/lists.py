"""The lists of the platform as assets, one for each from its declaration, read by one step.

One step, because the lists of a practice are read side by side over one sign-in, whoever asks. A run without
partitions is for all practices, and tells one by one only of those in which something changed: 500 practices
without news are seven events, not 3,500.
"""

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import dagster as dg

from pipelines.core.endpoint import ByReference, Endpoint
from pipelines.core.errors import ConfigurationError
from pipelines.core.results import EndpointResult, Progress, SyncResult, Waiting
from pipelines.endpoints import REGISTRY
from pipelines.jobs.sync import run_sync
from pipelines.orchestration.areas import Areas
from pipelines.orchestration.lock_wait import Say, wait_aloud
from pipelines.orchestration.metadata import run_totals, told_of_practice
from pipelines.orchestration.practices import PRACTICES, add_missing, chosen
from pipelines.orchestration.read_config import Read
from pipelines.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from pipelines.orchestration.unrun import keeping_results
from pipelines.settings import Settings

RETRIES = dg.RetryPolicy(max_retries=2, delay=30)
"""For a platform of which nothing at all could be read. One dead list holds nothing up: the next run reads it."""

_SAY_EVERY_SECONDS = 15


def raw_key(table: str) -> dg.AssetKey:
    """The key of a raw table: what dagster-dbt makes of the dbt source `partner`."""
    return dg.AssetKey(["partner", table])


def list_assets(areas: Areas, retries: dg.RetryPolicy = RETRIES) -> dg.AssetsDefinition:
    """The raw tables of all lists, by practice.

    A list that stays broken is no failure of its asset, or one list would keep all marts from being built: what is
    committed is kept, and its check `certified` fails the run instead.
    """
    with warnings.catch_warnings():
        # The only way to read many chosen partitions in one run; Dagster calls it beta.
        warnings.simplefilter("ignore", dg.BetaWarning)

        @dg.multi_asset(
            name="sync",
            specs=[_spec(endpoint, areas) for endpoint in REGISTRY],
            partitions_def=PRACTICES,
            backfill_policy=dg.BackfillPolicy.single_run(),
            can_subset=True,
            pool=WRITER_POOL,
            retry_policy=retries,
        )
        def sync(context: dg.AssetExecutionContext, config: Read, vetl: VetlResource) -> Iterator[Any]:
            is_last = context.retry_number >= retries.max_retries
            yield from keeping_results(context, _synced(context, config, vetl.settings(), is_last=is_last))

    return sync


def _synced(
    context: dg.AssetExecutionContext, config: Read, settings: Settings, *, is_last: bool
) -> Iterator[dg.MaterializeResult[Any]]:
    """`is_last`: no other attempt follows, so what was committed earlier is built although nothing was read."""
    wanted = [endpoint for endpoint in REGISTRY if raw_key(endpoint.table) in context.selected_asset_keys]
    started = time.monotonic()
    with as_failures():
        result = _read(context, config, settings, wanted)
    if _nothing_was_read(result) and not is_last:
        raise dg.Failure("; ".join({f"{item.practice_id}: {item.reason}": None for item in result.results}))
    add_missing(context.instance, settings)
    yield from _told(context, wanted, result, round(time.monotonic() - started, 2))


def _read(
    context: dg.AssetExecutionContext, config: Read, settings: Settings, wanted: Sequence[Endpoint]
) -> SyncResult:
    """Read what the run is for; a list that its configuration leaves out is not read."""
    named = _named(config, settings, chosen(context), context.log.info)
    names = [item.name for item in wanted if not config.lists or item.name in config.lists]
    unknown = set(config.lists) - {item.name for item in REGISTRY}
    if unknown or not names:
        raise ConfigurationError(
            f"lists: {', '.join(sorted(unknown or config.lists))}: not among those of this run"
        )
    if named == []:
        return SyncResult("", None, ())
    wait_aloud(settings, context.log.info, practices=named)
    return run_sync(
        settings,
        practices=named,
        endpoints=names,
        since=config.first_day,
        progress=_Progress(context.log.info),
        reconcile=config.reconcile.value,
    )


def _named(config: Read, settings: Settings, partitions: Sequence[str] | None, say: Say) -> list[str] | None:
    """The practices to read, `None` for all. A retired partition is left out, and told."""
    if partitions is None:
        return config.practices or None
    configured = {practice.id for practice in settings.practices}
    retired = [name for name in partitions if name not in configured]
    if retired:
        say(f"not configured any more, so not read: {', '.join(retired)}")
    return [
        name for name in partitions if name in configured and (not config.practices or name in config.practices)
    ]


class _Progress:
    """Says every while how far the read has come; a step that is silent for an hour looks dead."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._rows: dict[tuple[str, str], int] = {}
        self._said = time.monotonic()

    def __call__(self, progress: Progress | Waiting) -> None:
        if isinstance(progress, Waiting):
            if progress.what:
                self._say(progress.what)
            return
        self._rows[progress.practice_id, progress.endpoint] = progress.done
        if time.monotonic() - self._said >= _SAY_EVERY_SECONDS:
            self._said = time.monotonic()
            self._say(f"{sum(self._rows.values())} rows of {len(self._rows)} lists read so far")


def _told(
    context: dg.AssetExecutionContext, wanted: Iterable[Endpoint], result: SyncResult, seconds: float
) -> Iterator[dg.MaterializeResult[Any]]:
    """What became of each list, and of each practice of it."""
    for_all = chosen(context) is None
    for endpoint in wanted:
        key = raw_key(endpoint.table)
        results = [item for item in result.results if item.endpoint == endpoint.name]
        for item in results:
            if not for_all:
                context.add_asset_metadata(told_of_practice(item), asset_key=key, partition_key=item.practice_id)
            elif _is_news(item):
                context.log_event(
                    dg.AssetMaterialization(key, partition=item.practice_id, metadata=told_of_practice(item))
                )
        totals = run_totals(results, seconds) if for_all else {}
        yield dg.MaterializeResult(asset_key=key, metadata=totals)


def _nothing_was_read(result: SyncResult) -> bool:
    """The platform is down, for every list; it may be up again in a moment."""
    return bool(result.results) and all(item.retryable for item in result.results)


def _is_news(item: EndpointResult) -> bool:
    changes = item.changes
    return item.state != "certified" or bool(
        changes.inserted or changes.updated or changes.deleted or changes.quarantined
    )


def _spec(endpoint: Endpoint, areas: Areas) -> dg.AssetSpec:
    return dg.AssetSpec(
        raw_key(endpoint.table),
        description=areas.description(endpoint.table),
        group_name=areas.of_table(endpoint.table),
        owners=areas.owners(endpoint.table),
        kinds={"python", "duckdb"},
        metadata={**areas.metadata(endpoint), **_mentioned(endpoint)},
    )


def _mentioned(endpoint: Endpoint) -> dict[str, Any]:
    """Where the ids come from that a list is read by.

    As columns, not as assets: where one partitioned asset depends on another Dagster wants to know the partition,
    and a run for all practices has none.
    """
    if not isinstance(endpoint.strategy, ByReference):
        return {}
    mentions = [dg.TableColumnDep(raw_key(table), column) for table, column in endpoint.strategy.mentions]
    return {"dagster/column_lineage": dg.TableColumnLineage({endpoint.key[0]: mentions})}
