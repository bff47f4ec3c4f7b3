"""The lists of the platform as assets, one for each declaration, read by one step.

It is one step because the lists of a practice are read at the same time over one sign-in. A run without partitions
reads all practices, and records an event of its own only for a practice with changes: 500 practices without
changes are seven events, not 3,500.
"""

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import dagster as dg

from vetl.core.endpoint import ByReference, Endpoint
from vetl.core.errors import ConfigurationError
from vetl.core.results import EndpointResult, Progress, SyncResult, Waiting
from vetl.endpoints import REGISTRY
from vetl.jobs.sync import run_sync
from vetl.orchestration.checks_now import checked_if_it_fails, lists_now, published_now
from vetl.orchestration.keys import WRITER_POOL, raw_key
from vetl.orchestration.list_status import rows_of_tables
from vetl.orchestration.lock_wait import Log, wait_for_lock
from vetl.orchestration.metadata import practice_metadata, run_totals
from vetl.orchestration.practices import PRACTICES, add_missing_partitions, partitions_of
from vetl.orchestration.raw_tables import RawTables
from vetl.orchestration.read_config import Read
from vetl.orchestration.resources import VetlResource, as_failures
from vetl.settings import Settings

RETRIES = dg.RetryPolicy(max_retries=2, delay=30)
"""Retries if no list could be read at all. A single failed list is not retried: the next run reads it."""

_LOG_EVERY_SECONDS = 15


def list_assets(tables: RawTables, retries: dg.RetryPolicy = RETRIES) -> dg.AssetsDefinition:
    """Return the raw tables of all lists, partitioned by practice.

    A failed list does not fail its asset, because one list would then block the build of all marts. Its check
    `certified` fails the run instead.
    """
    with warnings.catch_warnings():
        # Dagster calls this policy beta. Nothing else reads many selected partitions in one run.
        warnings.simplefilter("ignore", dg.BetaWarning)

        @dg.multi_asset(
            name="sync",
            specs=[_spec(endpoint, tables) for endpoint in REGISTRY],
            partitions_def=PRACTICES,
            backfill_policy=dg.BackfillPolicy.single_run(),
            can_subset=True,
            pool=WRITER_POOL,
            retry_policy=retries,
        )
        def sync(context: dg.AssetExecutionContext, config: Read, vetl: VetlResource) -> Iterator[Any]:
            settings, is_last = vetl.settings(), context.retry_number >= retries.max_retries
            yield from checked_if_it_fails(settings, _synced(context, config, settings, is_last=is_last))

    return sync


def _synced(
    context: dg.AssetExecutionContext, config: Read, settings: Settings, *, is_last: bool
) -> Iterator[Any]:
    """Read the lists and yield their events. On the last attempt the marts are built even if nothing was read.

    A list that the configuration leaves out has no result. The steps that depend on it are then skipped.
    """
    wanted = [endpoint for endpoint in REGISTRY if raw_key(endpoint.table) in context.selected_asset_keys]
    started = time.monotonic()
    with as_failures(may_retry=not is_last):
        result = _read_selected(context, config, settings, wanted)
    if _nothing_was_read(result) and not is_last:
        raise dg.Failure("; ".join({f"{item.practice_id}: {item.reason}": None for item in result.results}))
    add_missing_partitions(context.instance, settings)
    read = [endpoint for endpoint in wanted if any(item.endpoint == endpoint.name for item in result.results)]
    yield from _materialized(context, settings, read, result, round(time.monotonic() - started, 2))
    if len(read) < len(wanted):
        context.log.info("Some lists were not read; the job build builds and publishes")
        yield from lists_now(settings)
        yield from published_now(settings)


def _read_selected(
    context: dg.AssetExecutionContext, config: Read, settings: Settings, wanted: Sequence[Endpoint]
) -> SyncResult:
    """Read the lists and practices that the run and its configuration select."""
    practices = _practices(config, settings, partitions_of(context), context.log.info)
    names = [item.name for item in wanted if not config.lists or item.name in config.lists]
    unknown = set(config.lists) - {item.name for item in REGISTRY}
    if unknown or not names:
        raise ConfigurationError(
            f"lists: {', '.join(sorted(unknown or config.lists))}: this run does not read them"
        )
    if practices == []:
        return SyncResult("", None, ())
    wait_for_lock(settings, context.log.info)
    return run_sync(
        settings,
        practices=practices,
        endpoints=names,
        since=config.first_day,
        progress=_Progress(context.log.info),
        reconcile=config.reconcile.value,
    )


def _practices(config: Read, settings: Settings, partitions: Sequence[str] | None, log: Log) -> list[str] | None:
    """Return the practices to read, `None` for all. Partitions that `vetl.toml` no longer has are skipped."""
    if partitions is None:
        return config.practices or None
    configured = {practice.id for practice in settings.practices}
    retired = [name for name in partitions if name not in configured]
    if retired:
        log(f"skipped, because vetl.toml no longer has them: {', '.join(retired)}")
    return [
        name for name in partitions if name in configured and (not config.practices or name in config.practices)
    ]


class _Progress:
    """Logs progress every 15 seconds, because a step that is silent for an hour looks dead."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._rows: dict[tuple[str, str], int] = {}
        self._logged_at = time.monotonic()

    def __call__(self, progress: Progress | Waiting) -> None:
        if isinstance(progress, Waiting):
            if progress.what:
                self._log(progress.what)
            return
        self._rows[progress.practice_id, progress.endpoint] = progress.done
        if time.monotonic() - self._logged_at >= _LOG_EVERY_SECONDS:
            self._logged_at = time.monotonic()
            self._log(f"{sum(self._rows.values())} rows of {len(self._rows)} lists read so far")


def _materialized(
    context: dg.AssetExecutionContext,
    settings: Settings,
    read: Iterable[Endpoint],
    result: SyncResult,
    seconds: float,
) -> Iterator[dg.MaterializeResult[Any]]:
    """Yield the materialization of each list that was read, and record those of its practices."""
    for_all = partitions_of(context) is None
    rows = rows_of_tables(settings) if for_all else {}
    for endpoint in read:
        key = raw_key(endpoint.table)
        results = [item for item in result.results if item.endpoint == endpoint.name]
        for item in results:
            if not for_all:
                context.add_asset_metadata(practice_metadata(item), asset_key=key, partition_key=item.practice_id)
            elif _has_changes(item):
                context.log_event(
                    dg.AssetMaterialization(key, partition=item.practice_id, metadata=practice_metadata(item))
                )
        totals = run_totals(results, rows.get(endpoint.name), seconds) if for_all else {}
        yield dg.MaterializeResult(asset_key=key, metadata=totals)


def _nothing_was_read(result: SyncResult) -> bool:
    """Return whether every list failed in a way that a retry may cure, such as a platform that is down."""
    return bool(result.results) and all(item.retryable for item in result.results)


def _has_changes(item: EndpointResult) -> bool:
    changes = item.changes
    return item.state != "certified" or bool(
        changes.inserted or changes.updated or changes.deleted or changes.quarantined
    )


def _spec(endpoint: Endpoint, tables: RawTables) -> dg.AssetSpec:
    return tables.raw_table(endpoint).merge_attributes(metadata=_mentioned(endpoint))


def _mentioned(endpoint: Endpoint) -> dict[str, Any]:
    """Return the columns that mention the ids by which a list is read.

    These are dependencies of columns, not of assets: if one partitioned asset depends on another, Dagster requires
    a partition, and a run for all practices has none.
    """
    if not isinstance(endpoint.strategy, ByReference):
        return {}
    mentions = [dg.TableColumnDep(raw_key(table), column) for table, column in endpoint.strategy.mentions]
    return {"dagster/column_lineage": dg.TableColumnLineage({endpoint.key[0]: mentions})}
