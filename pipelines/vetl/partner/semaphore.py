"""Limit the number of concurrent requests."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class AdaptiveSemaphore:
    """A semaphore that adapts to the number of concurrent requests that the platform accepts.

    The limit is `ceiling` at first. A refusal halves it, once for all requests that were sent concurrently, and
    every full round of successes raises it by one (additive increase, multiplicative decrease). Requests are
    admitted in the order of their arrival.
    """

    def __init__(self, ceiling: int) -> None:
        self._ceiling = self._limit = float(ceiling)
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.cuts = 0

    @property
    def limit(self) -> int:
        """Return the number of requests that may be sent concurrently now."""
        return int(self._limit)

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[None]:
        """Hold one place as soon as one is free."""
        await self._admit()
        try:
            yield
        finally:
            self._leave()

    def grow(self) -> None:
        """Raise the limit a little after a successful request."""
        if self._limit < self._ceiling:
            self._limit = min(self._ceiling, self._limit + 1 / self._limit)

    def halve(self, seen: int) -> bool:
        """Halve the limit after a refused request, unless the request began before the last cut.

        `seen` is the value of `cuts` at the begin of the request. Return whether the limit was halved.
        """
        if seen != self.cuts:
            return False
        self.cuts += 1
        self._limit = max(1.0, self._limit / 2)
        return True

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
                self._leave()  # the place was assigned, but its request was cancelled
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
