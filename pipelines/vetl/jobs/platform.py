"""The configured platform for sync, doctor and drain: its client, its query parameters, and its clock, judged.

The clock is judged by this machine's, by the last sync and by the newest call.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from vetl.core.endpoint import QueryNames
from vetl.core.errors import ConfigurationError, VetlError
from vetl.core.list_read import Practice
from vetl.core.pages import instant
from vetl.core.zones import zone
from vetl.endpoints import REGISTRY
from vetl.endpoints.phone_calls import PHONE_CALLS
from vetl.partner.account import AcceptedCredentials
from vetl.partner.client import Account, Limits, PartnerClient
from vetl.partner.limits import RetryPolicy
from vetl.settings import Settings
from vetl.store.notes import read_note, write_note
from vetl.store.warehouse import Warehouse


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


def query_names(settings: Settings) -> dict[str, QueryNames]:
    """Return the query parameters of every list by its name."""
    names = [endpoint.name for endpoint in REGISTRY]
    unknown = [name for name in settings.partner.parameters if name not in names]
    if unknown:
        raise ConfigurationError(
            f"partner.parameters.{unknown[0]}: there is no such list; known are {', '.join(names)}"
        )
    return {endpoint.name: settings.partner.query_names(endpoint.name, endpoint.names) for endpoint in REGISTRY}


QUIET = timedelta(days=4)
"""Longest time without a call of a practice: a long weekend."""


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
    client: PartnerClient, warehouse: Warehouse, practices: Sequence[Practice], clock: datetime
) -> tuple[datetime, str | None]:
    """Return the plausible time of the platform, and a line if the platform's clock shows another time.

    If the platform's clock is more than a day ahead of this machine's, the last sync or a newer call may confirm
    it: then this machine's clock is wrong. The check costs one request per practice, only if the clock is in
    doubt.
    """
    platform_time = client.clock.doubted
    if platform_time is None:
        return clock, None
    last = warehouse.last_clock()
    if last is not None:
        client.clock.support(last)
    for practice in practices:
        if client.clock.bounded(platform_time) == platform_time:
            return platform_time, None
        newest = await _newest_call(client, practice.id, platform_time)
        if newest is not None:
            client.clock.support(newest)
    believed = client.clock.bounded(platform_time)
    return believed, None if believed == platform_time else doubt(platform_time, believed)


def doubt(platform_time: datetime, believed: datetime) -> str:
    """Return the line about a wrong clock: its time, the plausible time, and the consequence."""
    hours = (platform_time - believed).total_seconds() / 3600
    return (
        f"the platform's clock shows {platform_time:%Y-%m-%d %H:%M} UTC, {hours:.0f} hours ahead of this"
        " machine's, of the last sync and of the newest call:"
        f" nothing is certified past {believed:%Y-%m-%d %H:%M} UTC"
    )


async def _newest_call(client: PartnerClient, practice_id: str, platform_time: datetime) -> datetime | None:
    """Return the begin of the newest call of the last days before the platform's time, if there is one."""
    first, last = (platform_time - QUIET).date(), (platform_time + timedelta(days=1)).date()
    days = {"start_date": first.isoformat(), "end_date": last.isoformat()}
    try:
        page = await client.page(practice_id, PHONE_CALLS.path, {**days, "page": "0", "per_page": "100"})
    except VetlError:
        return None
    times = [at for row in page.rows if (at := instant(row.get("created_at"))) is not None]
    return max((at for at in times if at <= platform_time), default=None)
