"""Time and chance, in one place so that tests can hold them still."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from pipelines.partner.headers import http_date

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
    """The platform's clock, as the `Date` header of its answers tells it.

    An answer without a usable `Date` is timed by this machine's clock, set right by the last `Date` seen.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._ahead = timedelta()
        self._complained = False

    def read(self, header: str | None) -> datetime:
        """The time of an answer with this `Date` header, aware UTC."""
        here, there = self._now(), http_date(header)
        if there is not None:
            self._ahead = there - here
            return there
        if not self._complained:
            self._complained = True
            _log.warning("answer_without_date", instead="this machine's clock", ahead=str(self._ahead))
        try:
            return here + self._ahead
        except OverflowError:
            return here
