"""One sync with the configured client and warehouse."""

import asyncio
import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime

from vetl.core.endpoint import Endpoint
from vetl.core.errors import ConfigurationError, VetlError, WrongUse
from vetl.core.list_read import Practice, Reconcile, ReportProgress, SyncResult
from vetl.endpoints import REGISTRY
from vetl.engine.runner import Order, Run, sync
from vetl.jobs.platform import believed_clock, partner_client, query_names, refuse_future_starts
from vetl.partner.client import PartnerClient
from vetl.settings import Settings
from vetl.store import instants
from vetl.store.phone_calls.csv_frames import parse_calls
from vetl.store.warehouse import Warehouse, new_run_id, writing
from vetl.store.writer_lock import record_failure, recorded

USUAL_SIGN_INS = 3
REQUESTS_OF_A_TOKEN = 50


def run_sync(
    settings: Settings,
    *,
    practices: Sequence[str] | None,
    endpoints: Sequence[str] | None,
    since: date | None,
    until: date | None = None,
    progress: ReportProgress,
    reconcile: Reconcile = "no",
) -> SyncResult:
    """Sync the warehouse with the source.

    `since` and `until`, or `reconcile`, read history again although it is certified.
    """
    if until and not (since and since <= until):
        raise WrongUse("until: needs a day of `since` that is not later")
    order = Order(
        practices=chosen_practices(settings, practices),
        endpoints=chosen_endpoints(endpoints),
        names=query_names(settings),
        since=since,
        until=until,
        details=settings.phone_calls.details,
        details_budget=settings.phone_calls.details_budget,
        reconcile=reconcile,
    )
    with writing(settings.warehouse), _fewer_collections():
        return asyncio.run(_sync(settings, partner_client(settings), order, progress))


@contextmanager
def _fewer_collections() -> Generator[None]:
    """Collect garbage less often while the context is active."""
    # Rows are millions of objects without a cycle, and the collection took 0.35 s of 5 s.
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


async def _sync(settings: Settings, client: PartnerClient, order: Order, progress: ReportProgress) -> SyncResult:
    """Sign in and then open the warehouse, so that a sync that cannot begin does not change it."""
    path, wait = settings.warehouse.path, settings.warehouse.lock_wait_seconds
    command = "sync" if order.reconcile == "no" else "reconcile"
    client.report_sign_in(progress)
    async with client:
        try:
            clock = await client.sign_in()
            refuse_future_starts(client, order.practices, clock)
            warehouse = Warehouse.open(path, REGISTRY, lock_wait_seconds=wait)
        except VetlError as error:
            record_failure(path, "sync", command, f"it could not begin: {error}")
            raise
        with recorded(path, "sync", command), warehouse:
            warehouse.set_practices(settings.practices)
            return await _recorded(warehouse, client, order, clock, progress)


async def _recorded(
    warehouse: Warehouse, client: PartnerClient, order: Order, clock: datetime, progress: ReportProgress
) -> SyncResult:
    """Run the sync, and write its row in `control.runs` in any case."""
    started = datetime.now(UTC)
    run_id = new_run_id(started)
    warehouse.start_run(run_id, started, "sync" if order.reconcile == "no" else "reconcile")
    exit_code, summary = 1, {}
    try:
        clock, doubt = await believed_clock(client, warehouse, order.practices, clock)
        run = Run(run_id, order, client, warehouse, parse_calls, clock, progress)
        result = await sync(run)
        result = replace(
            result,
            sign_ins=client.total.sign_ins,
            doubts=(doubt,) if doubt else _leaping_ahead(client),
            notes=(*_signing_in_often(client), *_other_rules(order)),
        )
        clock, exit_code, summary = run.clock, result.exit_code, result.as_json()
        return result
    finally:
        warehouse.finish_run(run_id, source_clock=clock, exit_code=exit_code, summary=summary)


def _leaping_ahead(client: PartnerClient) -> tuple[str, ...]:
    """Return a line if single answers had another clock than the others."""
    doubted = client.clock.doubted
    if doubted is None:
        return ()
    return (
        f"the clock of an answer showed {doubted:%Y-%m-%d %H:%M} UTC, far ahead of earlier ones; it was ignored",
    )


def _other_rules(order: Order) -> tuple[str, ...]:
    """Return a line for each time zone in which DuckDB has other rules."""
    zones = [practice.time_zone for practice in order.practices]
    start = min(practice.history_start for practice in order.practices)
    return tuple(instants.doubt(zone, spans) for zone, spans in instants.differences(zones, start).items())


def _signing_in_often(client: PartnerClient) -> tuple[str, ...]:
    """Return a line if tokens last for a few requests only, which explains the additional requests."""
    sign_ins, requests = client.total.sign_ins, client.total.requests
    if sign_ins <= USUAL_SIGN_INS or requests > sign_ins * REQUESTS_OF_A_TOKEN:
        return ()
    return (f"signed in {sign_ins} times for {requests} requests: the platform's tokens last for a few uses",)


def chosen_practices(settings: Settings, names: Sequence[str] | None) -> Sequence[Practice]:
    """Return the configured practices with these ids, or all practices without ids."""
    practices_by_id = {practice.id: practice for practice in settings.practices}
    if not practices_by_id:
        raise ConfigurationError("practices: none is configured; add them to vetl.toml, which `vetl init` writes")
    if not names:
        return settings.practices
    unknown = [name for name in names if name not in practices_by_id]
    if unknown:
        raise ConfigurationError(
            f"practice {unknown[0]} is not configured; known are {', '.join(practices_by_id)}"
        )
    return [practices_by_id[name] for name in dict.fromkeys(names)]


def chosen_endpoints(names: Sequence[str] | None) -> Sequence[Endpoint]:
    """Return the lists with these names in the order of reading, or all lists without names."""
    endpoints_by_name = {endpoint.name: endpoint for endpoint in REGISTRY}
    unknown = [name for name in names or () if name not in endpoints_by_name]
    if unknown:
        raise ConfigurationError(f"endpoint {unknown[0]} does not exist; known are {', '.join(endpoints_by_name)}")
    return [endpoint for endpoint in REGISTRY if not names or endpoint.name in names]
