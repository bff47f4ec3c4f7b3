"""Whether the platform's clock can be believed, and what else speaks for it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pipelines.core.errors import VetlError
from pipelines.core.practice import Practice
from pipelines.loading.warehouse import Warehouse
from pipelines.partner.client import PartnerClient
from pipelines.partner.practice import PartnerPractice

QUIET = timedelta(days=4)
"""How long a practice may be without a call: over a long weekend."""


async def believed_clock(
    client: PartnerClient, warehouse: Warehouse, practices: Sequence[Practice], clock: datetime
) -> tuple[datetime, str | None]:
    """The platform's clock as far as it is plausible, and a line where that is not what it tells.

    Where it is more than a day ahead of this machine, the last sync may speak for it, or a call that has come
    since: then it is this machine's clock that is wrong. One request a practice, and only where it is in doubt.
    """
    told = client.clock.doubted
    if told is None:
        return clock, None
    last = warehouse.last_clock()
    if last is not None:
        client.clock.support(last)
    for practice in practices:
        if client.clock.bounded(told) == told:
            return told, None
        newest = await _newest_call(client, practice.id, told)
        if newest is not None:
            client.clock.support(newest)
    believed = client.clock.bounded(told)
    return believed, None if believed == told else doubt(told, believed)


def doubt(told: datetime, believed: datetime) -> str:
    """One line: what is told, what is believed, and what follows."""
    hours = (told - believed).total_seconds() / 3600
    return (
        f"the platform's clock tells {told:%Y-%m-%d %H:%M} UTC, {hours:.0f} hours ahead of this machine's, of the"
        f" last sync and of the newest call: nothing is certified past {believed:%Y-%m-%d %H:%M} UTC"
    )


async def _newest_call(client: PartnerClient, practice_id: str, told: datetime) -> datetime | None:
    """When the newest of the calls began that the platform shows shortly before what its clock tells."""
    first, last = (told - QUIET).date(), (told + timedelta(days=1)).date()
    try:
        page = await anext(PartnerPractice(client, practice_id).phone_calls(start_date=first, end_date=last))
    except VetlError:
        return None
    times = [call.created_at for call in page.records if call.created_at is not None]
    return max((at for at in times if at <= told), default=None)
