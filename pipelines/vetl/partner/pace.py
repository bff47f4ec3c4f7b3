"""A limit on the requests per minute of all practices together."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from vetl.partner.timing import Timing

_CLOCK_MARGIN = 1.01
"""Running clocks are corrected in small steps."""


class Pace:
    """Gives each request a place, from before it is sent until a second after its answer.

    Only the platform knows when the request arrives between these two times, because a busy machine or network
    delivers late. No other request has the place meanwhile, so that at most as many requests arrive in a second as
    there are places. There are `per_minute / 60` places. If that is not a whole number, there is one more place,
    and each is kept a little longer than a second.

    One process sends all requests of a warehouse, because commands that write it take turns.
    """

    def __init__(self, per_minute: int, timing: Timing | None = None) -> None:
        places = -(-per_minute // 60)
        self._window = _CLOCK_MARGIN * 60 * places / per_minute
        self._timing = timing or Timing()
        self._free_at = deque([float("-inf")] * places)
        """The times at which free places may be used again, the earliest first."""
        self._places = asyncio.Semaphore(places)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Enter when a request may be sent, and leave when it was answered."""
        async with self._places:
            free_at = self._free_at.popleft()
            try:
                while (early := free_at - self._timing.monotonic()) > 0:
                    await self._timing.sleep(early)
            except BaseException:
                self._free_at.appendleft(free_at)  # nothing was sent
                raise
            try:
                yield
            finally:
                self._free_at.append(self._timing.monotonic() + self._window)
