"""One sync with the configured client and warehouse."""

import asyncio
import gc
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial

from vetl.core.endpoint import Endpoint
from vetl.core.errors import ConfigurationError, WrongUse
from vetl.core.list_read import Practice, Reconcile, ReportProgress, SyncResult
from vetl.endpoints import REGISTRY
from vetl.engine.order import Order, Run
from vetl.engine.runner import sync
from vetl.engine.source_clock import leaping_ahead, refuse_future_starts, settle_clock
from vetl.partner.account import AcceptedCredentials
from vetl.partner.client import Account, Limits, PartnerClient
from vetl.partner.retries import RetryPolicy
from vetl.settings import Settings
from vetl.store import instants
from vetl.store.notes import read_note, write_note
from vetl.store.phone_calls.csv_frames import parse_calls
from vetl.store.warehouse import Place, Warehouse, working

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
        practices=chosen_practices(settings.practices, practices),
        endpoints=chosen_endpoints(endpoints),
        names=settings.partner.query_names(REGISTRY),
        since=since,
        until=until,
        details=settings.phone_calls.details,
        details_budget=settings.phone_calls.details_budget,
        reconcile=reconcile,
        times_without_offset=settings.partner.times_without_offset,
    )
    client = partner_client(settings)
    with working(settings.warehouse, "sync", order.command), _fewer_collections():
        return asyncio.run(_sync(settings.warehouse, settings.practices, client, order, progress))


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


async def _sync(
    place: Place, configured: Sequence[Practice], client: PartnerClient, order: Order, progress: ReportProgress
) -> SyncResult:
    """Sign in and then open the warehouse, so that a sync that cannot begin does not change it."""
    client.report_sign_in(progress)
    async with client:
        clock = await client.sign_in()
        refuse_future_starts(client, order.practices, clock)
        with (
            Warehouse.open(place.path, REGISTRY, lock_wait_seconds=place.lock_wait_seconds) as warehouse,
            warehouse.run(order.command, configured) as row,
        ):
            row.source_clock = clock
            run = Run(row.id, order, client, warehouse, parse_calls, clock, progress)
            unlikely = await settle_clock(run, warehouse.last_clock())
            row.source_clock = run.clock
            result = await sync(run)
            doubt = unlikely or leaping_ahead(run)
            result = replace(
                result,
                sign_ins=client.total.sign_ins,
                doubts=(doubt,) if doubt else (),
                notes=tuple(_notes(run)),
            )
            row.source_clock, row.exit_code, row.summary = run.clock, result.exit_code, result.as_json()
            return result


def _notes(run: Run) -> Iterator[str]:
    """Yield a line about many sign-ins, and one for each zone in which DuckDB has other rules."""
    client, practices = run.source, run.order.practices
    sign_ins, requests = client.total.sign_ins, client.total.requests
    if sign_ins > USUAL_SIGN_INS and requests <= sign_ins * REQUESTS_OF_A_TOKEN:
        seen, unused = "the platform's tokens last for a few uses", client.tokens_never_accepted
        if 2 * unused >= sign_ins:
            seen = f"the platform rejected {unused} new tokens; it may accept one only some time after the sign-in"
        yield f"signed in {sign_ins} times for {requests} requests: {seen}"
    zones = [practice.time_zone for practice in practices]
    start = min(practice.history_start for practice in practices)
    yield from (instants.doubt(zone, spans) for zone, spans in instants.differences(zones, start).items())


def chosen_practices(configured: Sequence[Practice], names: Sequence[str] | None) -> Sequence[Practice]:
    """Return the configured practices with these ids, or all practices without ids."""
    practices_by_id = {practice.id: practice for practice in configured}
    if not practices_by_id:
        raise ConfigurationError("practices: none is configured; add them to vetl.toml, which `vetl init` writes")
    if not names:
        return configured
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


def partner_client(settings: Settings) -> PartnerClient:
    """Return a client that records beside the warehouse that its credentials were accepted once."""
    login, partner = settings.login(), settings.partner
    account = Account(
        login.base_url, login.username, login.password, login.role, allow_plain_http=partner.allow_plain_http
    )
    limits = Limits(
        max_in_flight=partner.max_in_flight,
        requests_per_minute=partner.requests_per_minute,
        requests_per_minute_total=partner.requests_per_minute_total,
        timeout_seconds=partner.timeout_seconds,
    )
    policy = RetryPolicy(max_wait=partner.max_wait_seconds, max_run=partner.max_run_seconds)
    warehouse = settings.warehouse.path
    accepted = AcceptedCredentials(
        partial(read_note, warehouse, "credentials"), partial(write_note, warehouse, "credentials")
    )
    return PartnerClient(account, limits, retry_policy=policy, accepted=accepted)
