"""How many requests may be under way at once."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class AdaptiveSemaphore:
    """Lets in as many requests at once as the platform has shown to bear, first come, first served.

    `ceiling` at first. A cut leaves half of them, once for all the requests that were on their way together;
    every full round that went well gives one place back (additive increase, multiplicative decrease).
    """

    def __init__(self, ceiling: int) -> None:
        self._ceiling = self._limit = float(ceiling)
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.cuts = 0

    @property
    def limit(self) -> int:
        """How many requests may be under way now."""
        return int(self._limit)

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[None]:
        """One place, as soon as there is one."""
        await self._admit()
        try:
            yield
        finally:
            self._leave()

    def grow(self) -> None:
        """A request went well."""
        if self._limit < self._ceiling:
            self._limit = min(self._ceiling, self._limit + 1 / self._limit)

    def halve(self, seen: int) -> bool:
        """A request was refused because there are too many. `seen` is what `cuts` was when it began.

        Returns whether that is news: a request that began before the last cut tells of what was then.
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
