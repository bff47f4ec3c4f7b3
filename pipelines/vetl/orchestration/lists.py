"""The raw tables as assets: lists, partitioned by practice and read by one step, and deliveries.

The lists are one step because those of a practice are read at the same time over one sign-in. A run without
partitions reads all practices, and records an event of its own only for a practice with changes: 500 practices
without changes are seven events, not 3,500.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from enum import Enum
from typing import Any

import dagster as dg
from pydantic import Field, field_validator

from vetl.core.endpoint import Endpoint
from vetl.core.list_read import EndpointResult, Progress, ReportProgress, SyncResult, Waiting
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.jobs.drain import run_drain
from vetl.jobs.judgements import certified_months
from vetl.jobs.sync import run_sync
from vetl.orchestration.checks import checked_if_it_fails, lists_now
from vetl.orchestration.metadata import bullets, practice_metadata, run_totals, table
from vetl.orchestration.resources import WRITER_POOL, RawTables, VetlResource, raw_key
from vetl.settings import Settings
from vetl.store.notes import ListStatus, read_snapshot

NAME = "practice"
PRACTICES = dg.DynamicPartitionsDefinition(name=NAME)
"""The practices of `vetl.toml`; `schedules.practices_sensor` keeps them equal to it."""

RETRIES = dg.RetryPolicy(max_retries=2, delay=30)
"""Retries if no list could be read at all. A single failed list is not retried: the next run reads it."""

_LOG_EVERY_SECONDS = 15
_MONTHS = ("practice", "certified", "months not certified")


class Again(Enum):
    """How much certified history is read again."""

    no = "no"
    recent = "recent"
    full = "full"


List = Enum("List", {endpoint.name: endpoint.name for endpoint in REGISTRY})


class Read(dg.Config):
    """Practices, lists and days to read. By default everything new of every practice."""

    practices: list[str] = Field(
        default=[],
        description="Ids of practices, as in vetl.toml. Empty: all, or those whose partitions were selected.",
    )
    lists: list[List] = Field(  # pyright: ignore[reportInvalidTypeForm] - an enumeration of the registry
        default=[], description="Names of lists. Empty: all."
    )
    since: str = Field(
        default="",
        description="A day, such as 2025-01-31, from which everything is read again. Empty: only new rows.",
    )
    until: str = Field(default="", description="The last day that is read again, with `since`. Empty: today.")
    reconcile: Again = Field(
        default=Again.no,
        description="Read history again, compare and repair: the last 35 days (recent) or all history (full).",
    )

    @field_validator("since", "until")
    @classmethod
    def _day(cls, text: str) -> str:
        if text:
            date.fromisoformat(text)
        return text


def run_config(again: Again) -> dict[str, Any]:
    """Return the configuration of a run that reads history again, as `again` says."""
    return {"ops": {"sync": {"config": {"reconcile": again.name}}}}


def reads_again(run: dg.DagsterRun) -> bool:
    """Return whether this run reads history again, as nightly and weekly runs do."""
    return config_of(run).get("reconcile", Again.no.name) != Again.no.name


def config_of(run: dg.DagsterRun) -> dict[str, Any]:
    """Return the configuration of the step that reads the lists."""
    config: Any = run.run_config
    return config.get("ops", {}).get("sync", {}).get("config", {})


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
            specs=[tables[raw_key(item.table)] for item in REGISTRY],
            partitions_def=PRACTICES,
            backfill_policy=dg.BackfillPolicy.single_run(),
            can_subset=True,
            pool=WRITER_POOL,
        )
        def sync(context: dg.AssetExecutionContext, config: Read, vetl: VetlResource) -> Iterator[Any]:
            settings, is_last = vetl.settings(), context.retry_number >= retries.max_retries
            try:
                events = _synced(context, config, settings, is_last=is_last)
                yield from checked_if_it_fails(settings, events, may_retry=not is_last)
            except dg.Failure as failure:
                if is_last or not failure.allow_retries:
                    raise
                # As the policy of the step, Dagster would begin again after a person has cancelled the run, too.
                raise dg.RetryRequested(retries.max_retries, retries.delay) from failure

    return sync


def _synced(
    context: dg.AssetExecutionContext, config: Read, settings: Settings, *, is_last: bool
) -> Iterator[Any]:
    """Read the lists and yield their events. On the last attempt the marts are built even if nothing was read.

    A list that the configuration leaves out has no result. The steps that depend on it are then skipped.
    """
    wanted = [endpoint for endpoint in REGISTRY if raw_key(endpoint.table) in context.selected_asset_keys]
    started = time.monotonic()
    result = _read_selected(context, config, settings, wanted)
    # A retry may help if every list failed as with a platform that is down.
    if result.results and all(item.retryable for item in result.results) and not is_last:
        raise dg.Failure("; ".join({f"{item.practice_id}: {item.reason}": None for item in result.results}))
    context.instance.add_dynamic_partitions(NAME, [practice.id for practice in settings.practices])
    read = [endpoint for endpoint in wanted if any(item.endpoint == endpoint.name for item in result.results)]
    yield from _materialized(context, settings, read, result, round(time.monotonic() - started, 2))
    if len(read) < len(wanted):
        context.log.info("Some lists were not read; the job build builds and publishes")
        yield from lists_now(settings)


def _read_selected(
    context: dg.AssetExecutionContext, config: Read, settings: Settings, wanted: Sequence[Endpoint]
) -> SyncResult:
    practices, chosen = _practices(context, config, settings), {item.value for item in config.lists}
    names = [item.name for item in wanted if not chosen or item.name in chosen]
    if practices == [] or not names:
        return SyncResult("", None, ())
    return run_sync(
        settings,
        practices=practices,
        endpoints=names,
        since=date.fromisoformat(config.since) if config.since else None,
        until=date.fromisoformat(config.until) if config.until else None,
        progress=_logging(context.log.info),
        reconcile=config.reconcile.value,
    )


def _practices(context: dg.AssetExecutionContext, config: Read, settings: Settings) -> list[str] | None:
    """Return the practices to read, `None` for all. Partitions that `vetl.toml` no longer has are skipped."""
    if not _is_partitioned(context):
        return config.practices or None
    configured = {practice.id for practice in settings.practices}
    retired = [name for name in context.partition_keys if name not in configured]
    if retired:
        context.log.info("skipped, because vetl.toml no longer has them: %s", ", ".join(retired))
    chosen = [name for name in context.partition_keys if name in configured]
    return [name for name in chosen if not config.practices or name in config.practices]


def _is_partitioned(context: dg.AssetExecutionContext) -> bool:
    return context.has_partition_key or context.has_partition_key_range


def _logging(log: Callable[[str], None]) -> ReportProgress:
    """Return a function that logs progress every 15 seconds, because a step silent for an hour looks dead."""
    rows: dict[tuple[str, str], int] = {}
    due = time.monotonic() + _LOG_EVERY_SECONDS

    def report(progress: Progress | Waiting) -> None:
        nonlocal due
        if isinstance(progress, Progress):
            rows[progress.practice_id, progress.endpoint] = progress.done
            if time.monotonic() >= due:
                due = time.monotonic() + _LOG_EVERY_SECONDS
                log(f"{sum(rows.values())} rows of {len(rows)} lists read so far")
        elif progress.what:
            log(progress.what)

    return report


def _materialized(
    context: dg.AssetExecutionContext,
    settings: Settings,
    read: Sequence[Endpoint],
    result: SyncResult,
    seconds: float,
) -> Iterator[dg.MaterializeResult[Any]]:
    """Yield the materialization of each list that was read, and record those of its practices."""
    for_all = not _is_partitioned(context)
    stored = stored_lists(settings)
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
        known = [item for item in stored if item.endpoint == endpoint.name]
        metadata = run_totals(results, sum(item.rows for item in known), seconds) if for_all else {}
        if endpoint.strategy.has_list:
            metadata["months"] = table(_MONTHS, certified_months(known, settings.practices))
        yield dg.MaterializeResult(asset_key=key, metadata=metadata)


def stored_lists(settings: Settings) -> Sequence[ListStatus]:
    """Return the state of the lists of every practice, also of those that a run did not read."""
    snapshot = read_snapshot(settings.warehouse.path)
    return snapshot.lists if snapshot else ()


def _has_changes(item: EndpointResult) -> bool:
    changes = item.changes
    return item.state != "certified" or bool(
        changes.inserted or changes.updated or changes.deleted or changes.quarantined
    )


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
