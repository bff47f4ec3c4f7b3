"""One sync with the configured client and warehouse.

The clock of the platform is judged by this machine's, by the last sync and by the newest call.
"""

import asyncio
import gc
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial

from vetl.core.endpoint import Endpoint
from vetl.core.errors import ConfigurationError, VetlError, WrongUse
from vetl.core.list_read import Practice, Reconcile, ReportProgress, SyncResult
from vetl.core.pages import instant
from vetl.core.zones import Times, TimesWithoutOffset, zone
from vetl.endpoints import PHONE_CALLS, REGISTRY
from vetl.engine.runner import Order, Run, sync
from vetl.partner.account import AcceptedCredentials
from vetl.partner.client import Account, Limits, PartnerClient
from vetl.partner.retries import RetryPolicy
from vetl.settings import Settings
from vetl.store import instants
from vetl.store.notes import read_note, write_note
from vetl.store.phone_calls.csv_frames import parse_calls
from vetl.store.warehouse import Place, Warehouse, writing
from vetl.store.writer_lock import record_failure, recorded

USUAL_SIGN_INS = 3
REQUESTS_OF_A_TOKEN = 50

HOUR = timedelta(hours=1)
QUIET = timedelta(days=4)
"""Longest time without a call of a practice: a long weekend."""


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
    with writing(settings.warehouse), _fewer_collections():
        return asyncio.run(
            _sync(settings.warehouse, settings.practices, partner_client(settings), order, progress)
        )


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
    command = "sync" if order.reconcile == "no" else "reconcile"
    client.report_sign_in(progress)
    async with client:
        try:
            clock = await client.sign_in()
            refuse_future_starts(client, order.practices, clock)
            warehouse = Warehouse.open(place.path, REGISTRY, lock_wait_seconds=place.lock_wait_seconds)
        except VetlError as error:
            record_failure(place.path, "sync", command, f"it could not begin: {error}")
            raise
        with recorded(place.path, "sync", command), warehouse, warehouse.run(command, configured) as row:
            row.source_clock = clock
            row.source_clock, doubt = await believed_clock(client, order, clock, warehouse.last_clock())
            run = Run(row.id, order, client, warehouse, parse_calls, row.source_clock, progress)
            result = replace(
                await sync(run),
                sign_ins=client.total.sign_ins,
                doubts=(doubt,) if doubt else _leaping_ahead(client),
                notes=tuple(_notes(client, order.practices)),
            )
            row.source_clock, row.exit_code, row.summary = run.clock, result.exit_code, result.as_json()
            return result


def _leaping_ahead(client: PartnerClient) -> tuple[str, ...]:
    """Return a line if single answers had another clock than the others."""
    doubted = client.clock.doubted
    if doubted is None:
        return ()
    return (
        f"the clock of an answer showed {doubted:%Y-%m-%d %H:%M} UTC, far ahead of earlier ones; it was ignored",
    )


def _notes(client: PartnerClient, practices: Sequence[Practice]) -> Iterator[str]:
    """Yield a line about many sign-ins, and one for each zone in which DuckDB has other rules."""
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


def refuse_future_starts(client: PartnerClient, practices: Sequence[Practice], clock: datetime) -> None:
    """Refuse a `history_start` in the future, because an empty history would be certified."""
    # If the platform's clock is ahead of the plausible time, the later one counts, as either may be right.
    latest = max(clock, client.clock.doubted or clock)
    for practice in practices:
        today = latest.astimezone(zone(practice.time_zone)).date()
        if practice.history_start > today:
            raise ConfigurationError(
                f"practices: history_start = {practice.history_start} of {practice.id} is in the future: by the"
                f" platform's clock it is {today} there; set the first day that is to be read"
            )


async def believed_clock(
    client: PartnerClient, order: Order, clock: datetime, last: datetime | None
) -> tuple[datetime, str | None]:
    """Return the plausible time of the platform, and a line if the platform's clock shows another time.

    If the platform's clock is more than a day ahead of this machine's, its clock at the `last` sync or a newer
    call may confirm it: then this machine's clock is wrong. The check costs one request per practice, only if the
    clock is in doubt.
    """
    shown = client.clock.doubted
    if shown is None:
        return clock, None
    if last is not None:
        client.clock.support(last)
    for practice in order.practices:
        if client.clock.bounded(shown) == shown:
            return shown, None
        newest = await _newest_call(client, practice, order.times_without_offset, shown)
        if newest is not None:
            client.clock.support(newest)
    believed = client.clock.bounded(shown)
    if believed == shown:
        return believed, None
    hours = (shown - believed) / HOUR
    return believed, (
        f"the platform's clock shows {shown:%Y-%m-%d %H:%M} UTC, {hours:.0f} hours ahead of this machine's, of the"
        " last sync and of the newest call:"
        f" nothing is certified past {believed:%Y-%m-%d %H:%M} UTC"
    )


async def _newest_call(
    client: PartnerClient, practice: Practice, setting: TimesWithoutOffset | None, platform_time: datetime
) -> datetime | None:
    """Return the begin of the newest call of the last days before the platform's time, if there is one."""
    first, last = (platform_time - QUIET).date(), (platform_time + timedelta(days=1)).date()
    days = {"start_date": first.isoformat(), "end_date": last.isoformat()}
    try:
        page = await client.page(practice.id, PHONE_CALLS.path, {**days, "page": "0", "per_page": "100"})
    except VetlError:
        return None
    times = Times.of(PHONE_CALLS, setting, practice.time_zone)
    begun = [at for row in page.rows if (at := instant(times.read(row).get("created_at"))) is not None]
    return max((at for at in begun if at <= platform_time), default=None)
