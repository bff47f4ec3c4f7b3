"""How many requests a practice is asked at once, and how soon after another."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import structlog

from pipelines.errors import RateLimited
from pipelines.partner.retrying import backoff, heeded
from pipelines.partner.timing import Timing

_log = structlog.stdlib.get_logger("vetl.partner")


class Gate:
    """What the requests of one practice pass through, first come, first served.

    As many are let in at once as the platform has shown to bear: `ceiling` at first, half after a 429, and
    one more for every full round that went well (additive increase, multiplicative decrease). After a 429
    nobody is let in for as long as `Retry-After` says, or for a growing pause where it says nothing. A quota
    per minute is kept by spacing, because a burst and a full minute after it would exceed it.
    """

    def __init__(self, name: str, ceiling: int, per_minute: int | None, timing: Timing) -> None:
        self._name = name
        self._ceiling = float(ceiling)
        self._spacing = 60 / per_minute if per_minute else 0.0
        self._timing = timing
        self._limit = self._ceiling
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opens_at = 0.0
        self._cuts = 0
        self._cuts_in_a_row = 0

    @property
    def limit(self) -> int:
        """How many requests may be inside now."""
        return int(self._limit)

    @asynccontextmanager
    async def passing(self) -> AsyncGenerator[None]:
        """One request, from its start to its answer; a 429 is told by letting `RateLimited` through."""
        await self._admit()
        try:
            await self._open()
            seen = self._cuts
            try:
                yield
            except RateLimited as error:
                self._cut(seen, error)
                raise
            else:
                self._grow()
        finally:
            self._leave()

    async def _admit(self) -> None:
        if not self._waiting and self._inside < self.limit:
            self._inside += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave()  # the place was given, but nobody takes it
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    def _leave(self) -> None:
        self._inside -= 1
        while self._waiting and self._inside < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._inside += 1
                turn.set_result(None)

    async def _open(self) -> None:
        """Wait until the gate is open. What has been slept counts as passed, whatever the clock says."""
        passed = self._timing.monotonic() if self._opens_at else 0.0
        while (opens_at := self._opens_at) > passed:
            await self._timing.sleep(opens_at - passed)
            passed = opens_at
        if self._spacing:
            self._opens_at = max(passed, self._timing.monotonic()) + self._spacing

    def _grow(self) -> None:
        self._cuts_in_a_row = 0
        if self._limit < self._ceiling:
            self._limit = min(self._ceiling, self._limit + 1 / self._limit)

    def _cut(self, seen: int, error: RateLimited) -> None:
        """Halve once for all the requests that were on their way together, and pause."""
        fresh = seen == self._cuts
        if fresh:
            self._cuts += 1
            self._cuts_in_a_row += 1
            self._limit = max(1.0, self._limit / 2)
        asked = heeded(error.retry_after, self._name)
        if asked is None and not fresh:
            return
        # Half of the wait is certain: a quota refills with time, not with luck.
        pause = asked or backoff(self._cuts_in_a_row + 1, (1 + self._timing.chance()) / 2)
        self._opens_at = max(self._opens_at, self._timing.monotonic() + pause)
        _log.info("rate_limited", practice=self._name, pause=round(pause, 3), in_flight=self.limit)
