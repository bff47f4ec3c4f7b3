"""Whether the platform's clock can be believed, and what else speaks for it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from pipelines.core.errors import ConfigurationError, VetlError
from pipelines.core.practice import Practice
from pipelines.loading.warehouse import Warehouse
from pipelines.partner.client import PartnerClient
from pipelines.partner.practice import PartnerPractice

QUIET = timedelta(days=4)
"""How long a practice may be without a call: over a long weekend."""


def refuse_future_starts(client: PartnerClient, practices: Sequence[Practice], clock: datetime) -> None:
    """Refuse a `history_start` that the platform's clock has not reached: all of nothing would be certified.

    If the platform's clock is ahead of what is believed, the later time counts: which is right is not known yet.

    Raises:
        ConfigurationError: such a practice is among these.
    """
    latest = max(clock, client.clock.doubted or clock)
    for practice in practices:
        today = latest.astimezone(ZoneInfo(practice.time_zone)).date()
        if practice.history_start > today:
            raise ConfigurationError(
                f"practices: history_start = {practice.history_start} of {practice.id} is in the future: by the"
                f" platform's clock it is {today} there; set a day on which reading shall begin"
            )


async def believed_clock(
    client: PartnerClient, warehouse: Warehouse, practices: Sequence[Practice], clock: datetime
) -> tuple[datetime, str | None]:
    """The platform's clock as far as it is plausible, and a line where that is not what it tells.

    Where it is more than a day ahead of this machine, the last sync may speak for it, or a call that has come
    since: then it is this machine's clock that is wrong. One request a practice, and only where it is in doubt.
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
    """One line: what is told, what is believed, and what follows."""
    hours = (platform_time - believed).total_seconds() / 3600
    return (
        f"the platform's clock tells {platform_time:%Y-%m-%d %H:%M} UTC, {hours:.0f} hours ahead of this"
        " machine's, of the last sync and of the newest call:"
        f" nothing is certified past {believed:%Y-%m-%d %H:%M} UTC"
    )


async def _newest_call(client: PartnerClient, practice_id: str, platform_time: datetime) -> datetime | None:
    """When the newest of the calls began that the platform shows shortly before what its clock tells."""
    first, last = (platform_time - QUIET).date(), (platform_time + timedelta(days=1)).date()
    try:
        page = await anext(PartnerPractice(client, practice_id).phone_calls(start_date=first, end_date=last))
    except VetlError:
        return None
    times = [call.created_at for call in page.records if call.created_at is not None]
    return max((at for at in times if at <= platform_time), default=None)
