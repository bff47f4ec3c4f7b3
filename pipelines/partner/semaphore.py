"""How many requests may be under way at once, and what tells that they are too many."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

LEFT_BY_A_REFUSAL = 0.5
LEFT_BY_SLOWNESS = 0.75
LEAST_WHEN_SLOW = 2
"""While one answer is read another one can always be on its way, however slow."""


class AdaptiveSemaphore:
    """Lets in as many requests as the platform has shown to bear, first come, first served.

    `ceiling` at first. A cut leaves a share of them, once for all the requests that were on their way together;
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
    async def taken(self, *, first: bool = False) -> AsyncGenerator[None]:
        """One place, as soon as there is one; `first`: before all that wait already."""
        await self._admit(first=first)
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
        return self._cut(seen, max(1.0, self._limit * LEFT_BY_A_REFUSAL))

    def ease(self, seen: int) -> bool:
        """A request showed that those under way now are too many. Returns whether that is news, see `halve`."""
        wanted = min(self._limit, self._inside) * LEFT_BY_SLOWNESS
        return self._cut(seen, min(self._limit, max(LEAST_WHEN_SLOW, wanted)))

    def _cut(self, seen: int, limit: float) -> bool:
        if seen != self.cuts:
            return False
        self.cuts += 1
        self._limit = limit
        return True

    async def _admit(self, *, first: bool) -> None:
        if not self._waiting and self._inside < self.limit:
            self._inside += 1
            return
        turn = asyncio.get_running_loop().create_future()
        (self._waiting.appendleft if first else self._waiting.append)(turn)
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


class Latency:
    """Whether answers of one kind take longer than they did at their best.

    Kinds are told apart because a page of 5,000 calls takes longer than a total. The best is forgotten slowly, so
    that a platform that has become slower for good is not held to what it was.
    """

    SLOWER = 2.0
    NOTICEABLE = 0.05
    """Seconds. Below that it is this machine that was busy."""
    WEIGHT = 0.3
    FORGETTING = 1.001

    def __init__(self) -> None:
        self._best: dict[object, float] = {}
        self._recent: dict[object, float] = {}

    def is_rising(self, kind: object, seconds: float) -> bool:
        """Take one answer into account; whether the recent ones of its kind are slow."""
        best = min(seconds, self._best.get(kind, seconds) * self.FORGETTING)
        before = self._recent.get(kind, seconds)
        recent = before + self.WEIGHT * (seconds - before)
        self._best[kind], self._recent[kind] = best, recent
        return recent > self.SLOWER * best and recent - best > self.NOTICEABLE

    def forget_recent(self) -> None:
        """After a cut: what was slow before says nothing of what comes."""
        self._recent.clear()
