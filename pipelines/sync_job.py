"""One sync, put together: settings, client and warehouse around the loop."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime
from secrets import token_hex

from pipelines.endpoint import Endpoint
from pipelines.endpoints import REGISTRY
from pipelines.errors import ConfigurationError
from pipelines.loading.call_frames import parse_calls
from pipelines.loading.warehouse import Warehouse
from pipelines.partner.client import Account, Limits, PartnerClient
from pipelines.performing import Order, Run
from pipelines.practice import Practice
from pipelines.results import Report, SyncResult
from pipelines.settings import Settings
from pipelines.strategies.reading import Reconcile
from pipelines.sync import sync


def run_sync(
    settings: Settings,
    *,
    practices: Sequence[str] | None,
    endpoints: Sequence[str] | None,
    since: date | None,
    progress: Report,
    reconcile: Reconcile = "no",
) -> SyncResult:
    """Bring the warehouse in step with the source; `reconcile` reads history again, whatever is certified.

    Raises:
        ConfigurationError: an unknown practice or endpoint is named, or the credentials are refused.
        WarehouseError: the warehouse cannot be opened or written.
        Unreachable: the platform cannot be signed in to.
    """
    order = Order(
        practices=chosen_practices(settings, practices),
        endpoints=chosen_endpoints(endpoints),
        names={
            endpoint.name: settings.partner.query_names(endpoint.name, endpoint.names) for endpoint in REGISTRY
        },
        since=since,
        details=settings.phone_calls.details,
        details_budget=settings.phone_calls.details_budget,
        reconcile=reconcile,
    )
    login = settings.login()
    account = Account(login.base_url, login.username, login.password, login.role)
    limits = Limits(
        max_in_flight=settings.partner.max_in_flight,
        requests_per_minute=settings.partner.requests_per_minute,
        timeout_seconds=settings.partner.timeout_seconds,
    )
    return asyncio.run(_sync(settings, PartnerClient(account, limits), order, progress))


async def _sync(settings: Settings, client: PartnerClient, order: Order, progress: Report) -> SyncResult:
    """Sign in before the warehouse is opened, so that a sync that cannot begin leaves it as it was."""
    wait = settings.warehouse.lock_wait_seconds
    async with client:
        clock = await client.sign_in()
        with Warehouse.open(settings.warehouse.path, REGISTRY, lock_wait_seconds=wait) as warehouse:
            warehouse.set_practices(settings.practices)
            return await _recorded(warehouse, client, order, clock, progress)


async def _recorded(
    warehouse: Warehouse, client: PartnerClient, order: Order, clock: datetime, progress: Report
) -> SyncResult:
    """The sync, and its row in `control.runs`, however it ends."""
    started = datetime.now(UTC)
    run_id = f"{started:%Y%m%dT%H%M%S}-{token_hex(4)}"
    warehouse.start_run(run_id, started, "sync" if order.reconcile == "no" else "reconcile")
    exit_code, summary = 1, {}
    try:
        run = Run(run_id, order, client, warehouse, parse_calls, clock, progress)
        result = await sync(run)
        clock, exit_code, summary = run.clock, result.exit_code, result.as_json()
        return result
    finally:
        warehouse.finish_run(run_id, source_clock=clock, exit_code=exit_code, summary=summary)


def chosen_practices(settings: Settings, wanted: Sequence[str] | None) -> Sequence[Practice]:
    """The configured practices of these ids; all where none is named.

    Raises:
        ConfigurationError: none is configured, or one that is named is not.
    """
    known = {practice.id: practice for practice in settings.practices}
    if not known:
        raise ConfigurationError("practices: none is configured; add a [[practices]] table to vetl.toml")
    if not wanted:
        return settings.practices
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ConfigurationError(f"practice {unknown[0]} is not configured; known are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(wanted)]


def chosen_endpoints(wanted: Sequence[str] | None) -> Sequence[Endpoint]:
    """The lists of these names, in the order of reading; all where none is named.

    Raises:
        ConfigurationError: there is no such list.
    """
    known = {endpoint.name: endpoint for endpoint in REGISTRY}
    unknown = [name for name in wanted or () if name not in known]
    if unknown:
        raise ConfigurationError(f"endpoint {unknown[0]} does not exist; known are {', '.join(known)}")
    return [endpoint for endpoint in REGISTRY if not wanted or endpoint.name in wanted]
