"""How many requests a practice is asked at once, and how soon after another."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import structlog

from pipelines.core.errors import RateLimited, TokenRejected, Unreachable
from pipelines.partner.patience import Patience, heeded
from pipelines.partner.retrying import backoff
from pipelines.partner.semaphore import AdaptiveSemaphore, Latency
from pipelines.partner.timing import Timing

_log = structlog.stdlib.get_logger("vetl.partner")

Answered = Callable[[object, float], None]
"""Tells that an answer of some kind came, and after how many seconds."""


class RateLimiter:
    """What the requests of one practice pass through, first come, first served.

    As many are let in at once as the platform has shown to bear: `ceiling` at first, half of them after a 429,
    three quarters where answers become slow or do not come, and one more for every full round that went well. The
    same holds for all practices together, in `everywhere`. After a 429 nobody is let in for as long as
    `Retry-After` says, or for a growing pause where it says nothing. A quota per minute is kept by spacing,
    because a burst and a full minute after it would exceed it; it holds however many are let in.
    """

    def __init__(
        self,
        name: str,
        ceiling: int,
        per_minute: int | None,
        timing: Timing,
        everywhere: AdaptiveSemaphore | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._name = name
        self._spacing = 60 / per_minute if per_minute else 0.0
        self._timing = timing
        self._patience = patience or Patience(timing)
        self._places = AdaptiveSemaphore(ceiling)
        self._everywhere = everywhere or AdaptiveSemaphore(ceiling)
        self._latency = Latency()
        self._opens_at = 0.0
        self._refusals_in_a_row = 0
        self._was_answered = False

    @property
    def limit(self) -> int:
        """How many requests may be inside now."""
        return self._places.limit

    @asynccontextmanager
    async def passing(self, *, replayed: bool = False) -> AsyncGenerator[Answered]:
        """One request, from its start to its answer; a 429 is told by letting `RateLimited` through.

        Who passes may tell how long the answer took, without the waiting for its turn. `replayed`: it follows a
        fresh sign-in. Another 401 then tells of a token that is good for a few uses only, which the requests take
        from each other: fewer at once need fewer sign-ins, and who lost is next. A first 401 is a token that has expired.
        """
        async with self._places.taken(first=replayed):
            await self._open()
            async with self._everywhere.taken(first=replayed):
                seen, seen_everywhere = self._places.cuts, self._everywhere.cuts
                slow = False

                def answered(kind: object, seconds: float) -> None:
                    nonlocal slow
                    slow = self._latency.is_rising(kind, seconds)

                try:
                    yield answered
                except RateLimited as error:
                    self._refused(seen, error)
                    raise
                except TokenRejected:
                    if replayed:
                        self._used_up(seen, seen_everywhere)
                    raise
                except Unreachable:
                    self._slowed(seen, seen_everywhere)
                    raise
                self._refusals_in_a_row = 0
                self._patience.answered(self._name)
                self._was_answered = True
                if slow:
                    self._slowed(seen, seen_everywhere)
                else:
                    self._places.grow()
                    self._everywhere.grow()

    async def _open(self) -> None:
        """Wait until the limiter is open. What has been slept counts as passed, whatever the clock says."""
        passed = self._timing.monotonic() if self._opens_at else 0.0
        while (opens_at := self._opens_at) > passed:
            await self._timing.sleep(opens_at - passed)
            passed = opens_at
        if self._spacing:
            self._opens_at = max(passed, self._timing.monotonic()) + self._spacing

    def _slowed(self, seen: int, seen_everywhere: int) -> None:
        self._everywhere.ease(seen_everywhere)
        if self._places.ease(seen):
            self._latency.forget_recent()
            _log.debug("slower_answers", practice=self._name, in_flight=self.limit)

    def _used_up(self, seen: int, seen_everywhere: int) -> None:
        """A practice that was never answered may just be refused, which says nothing of the others."""
        if self._was_answered:
            self._everywhere.halve(seen_everywhere)
        if self._places.halve(seen):
            _log.debug("token_used_up", practice=self._name, in_flight=self.limit)

    def _refused(self, seen: int, error: RateLimited) -> None:
        """Halve once for all the requests that were on their way together, and pause."""
        fresh = self._places.halve(seen)
        self._refusals_in_a_row += fresh
        asked = heeded(error.retry_after, self._name)
        if asked is None and not fresh:
            return
        # Half of the wait is certain: a quota refills with time, not with luck.
        wanted = asked or backoff(self._refusals_in_a_row + 1, (1 + self._timing.chance()) / 2)
        pause = self._patience.granted(self._name, wanted)
        self._opens_at = max(self._opens_at, self._timing.monotonic() + pause)
        _log.info("rate_limited", practice=self._name, pause=round(pause, 3), in_flight=self.limit)
