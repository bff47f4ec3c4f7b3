"""The time up to which a sync may certify, if the platform's clock shows an unlikely one.

The clock is judged by this machine's, by the last sync and by the newest call.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from vetl.core.errors import ConfigurationError, VetlError
from vetl.core.list_read import Practice
from vetl.core.pages import instant
from vetl.core.zones import Times, zone
from vetl.endpoints import PHONE_CALLS
from vetl.engine.order import Run
from vetl.partner.client import PartnerClient

HOUR = timedelta(hours=1)
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


async def settle_clock(run: Run, last: datetime | None) -> str | None:
    """Set the clock of a run that begins; return a line if the platform's clock shows another time.

    If the platform's clock is more than a day ahead of this machine's, its clock at the `last` sync or a newer
    call may confirm it: then this machine's clock is wrong. The check costs one request per practice, only if the
    clock is in doubt.
    """
    clock = run.source.clock
    shown = clock.doubted
    if shown is None:
        return None
    if last is not None:
        clock.support(last)
    for practice in run.order.practices:
        if clock.bounded(shown) == shown:
            break
        newest = await _newest_call(run, practice, shown)
        if newest is not None:
            clock.support(newest)
    run.clock = clock.bounded(shown)
    if run.clock == shown:
        return None
    hours = (shown - run.clock) / HOUR
    return (
        f"the platform's clock shows {shown:%Y-%m-%d %H:%M} UTC, {hours:.0f} hours ahead of this machine's, of the"
        " last sync and of the newest call:"
        f" nothing is certified past {run.clock:%Y-%m-%d %H:%M} UTC"
    )


def leaping_ahead(run: Run) -> str | None:
    """Return a line if single answers had another clock than the others."""
    doubted = run.source.clock.doubted
    if doubted is None:
        return None
    return f"the clock of an answer showed {doubted:%Y-%m-%d %H:%M} UTC, far ahead of earlier ones; it was ignored"


async def _newest_call(run: Run, practice: Practice, platform_time: datetime) -> datetime | None:
    """Return the begin of the newest call of the last days before the platform's time, if there is one."""
    first, last = (platform_time - QUIET).date(), (platform_time + timedelta(days=1)).date()
    days = {"start_date": first.isoformat(), "end_date": last.isoformat()}
    try:
        page = await run.source.page(practice.id, PHONE_CALLS.path, {**days, "page": "0", "per_page": "100"})
    except VetlError:
        return None
    times = Times.of(PHONE_CALLS, run.order.times_without_offset, practice.time_zone)
    begun = [at for row in page.rows if (at := instant(times.read(row).get("created_at"))) is not None]
    return max((at for at in begun if at <= platform_time), default=None)
