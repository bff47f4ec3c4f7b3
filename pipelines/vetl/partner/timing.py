"""Time and randomness in one place, so that tests can control them."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from vetl.partner.answers import http_date

SKEW = timedelta(minutes=5)
"""Most minutes by which the platform's clock may be ahead of other evidence of the time. Each sync reads a longer
time again, so that it reads rows that come within a time that was certified too early."""
LEEWAY = timedelta(days=1)
"""Most time by which the platform's clock may be ahead without a warning, as this machine's may be wrong."""

_log = structlog.stdlib.get_logger("vetl.partner")


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock and the randomness of this machine: `now` is aware UTC, `chance` is uniform in [0, 1)."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class ServerClock:
    """The platform's clock by the `Date` headers of its answers, limited to plausible times.

    A certificate for a future time would hide the rows that come until then. So a `Date` is accepted if it is at
    most five minutes ahead of this machine's clock, or of the latest instant that the last sync or the newest row
    confirms (`support`). A later `Date` counts as that latest instant, and if it is more than a day later, it is
    stored in `doubted`. After the first answer the clock advances like this machine's, so a header that jumps
    ahead is not accepted. If other evidence shows that this machine is more than a day behind, a `Date` may be a
    day ahead of that evidence.

    The time of an answer without a usable `Date` is this machine's time, corrected by the last `Date`.
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
        """Return the latest instant that other evidence than a header confirms."""
        return max(self._timing.now(), self._supported)

    def support(self, instant: datetime) -> None:
        """Confirm that the platform's clock has reached an instant; reset the doubt."""
        self._supported = max(self._supported, instant)
        self._first = self.doubted = None

    def bounded(self, platform_time: datetime) -> datetime:
        """Return the platform's time, or the latest plausible instant if that time is later."""
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
        """Return the time of an answer with this `Date` header, in aware UTC."""
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
