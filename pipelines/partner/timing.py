"""Time and chance, in one place so that tests can hold them still."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from pipelines.partner.headers import http_date

SKEW = timedelta(minutes=5)
"""How far ahead of whatever else tells the time the platform's clock is followed. Less than what each sync reads
again, so that rows which come in a time that was certified too early are met."""
LEEWAY = timedelta(days=1)
"""How far ahead it may be without a word: this machine's clock may be the one that is wrong."""

_log = structlog.stdlib.get_logger("vetl.partner")


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Timing:
    """What the client needs of this machine: `now` is aware UTC, `chance` is uniform in [0, 1)."""

    now: Callable[[], datetime] = _utc_now
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class ServerClock:
    """The platform's clock, as the `Date` header of its answers tells it, within what is plausible.

    What is certified through a time that has not come hides the rows that come later. So a `Date` counts up to
    five minutes ahead of this machine's clock, or of the latest instant that something else speaks for
    (`support`): the last sync, the newest row. What is beyond is taken for that latest instant; more than a day
    beyond, it is remembered in `doubted`. While a client lives, its clock goes on as this machine's does: a header
    that jumps ahead by more is not followed. Where something else shows that this machine is more than a day
    behind, a `Date` counts up to a day ahead of that.

    An answer without a usable `Date` is timed by this machine's clock, set right by the last `Date` seen.
    """

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._ahead = timedelta()
        self._complained = False
        self._supported = datetime.min.replace(tzinfo=UTC)
        self._first: tuple[datetime, float] | None = None
        self.doubted: datetime | None = None

    @property
    def latest_plausible(self) -> datetime:
        """The latest instant that something else than a header speaks for."""
        return max(self._timing.now(), self._supported)

    def support(self, instant: datetime) -> None:
        """The platform's clock has been so far, as something else than a header shows; what was doubted is not."""
        self._supported = max(self._supported, instant)
        self._first = self.doubted = None

    def bounded(self, platform_time: datetime) -> datetime:
        """The platform's time, or the latest plausible instant where that time is ahead of it."""
        latest = self.latest_plausible
        room = LEEWAY if self._supported - self._timing.now() > LEEWAY else SKEW
        if self._first is not None:
            seen, at = self._first
            latest = min(latest, seen + timedelta(seconds=self._timing.monotonic() - at))
        if platform_time - latest <= room:
            return platform_time
        if platform_time - latest > LEEWAY:
            self.doubted = max(self.doubted or platform_time, platform_time)
        return latest

    def read(self, header: str | None) -> datetime:
        """The time of an answer with this `Date` header, aware UTC."""
        here, there = self._timing.now(), http_date(header)
        if there is not None:
            self._ahead = there - here
            believed = self.bounded(there)
            self._first = self._first or (believed, self._timing.monotonic())
            return believed
        if not self._complained:
            self._complained = True
            _log.warning("answer_without_date", instead="this machine's clock", ahead=str(self._ahead))
        try:
            return self.bounded(here + self._ahead)
        except OverflowError:
            return here
