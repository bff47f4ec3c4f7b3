"""A ceiling of requests that all processes of an account keep together, on one machine or on several."""

import asyncio
import fcntl
import os
from array import array
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

from pipelines.partner.timing import Timing

_CLOCK_MARGIN = 1.01
"""Clocks are set right while they run, by a little at a time."""
_LEASE_SECONDS = 30.0
"""A request without an answer for so long has arrived by now, or its process is no more: its place is free."""


def file_system_time(handle: int) -> float:
    """Return the time by the file system of an open file, in seconds: the one that it gives a file touched now."""
    os.utime(handle)
    return os.fstat(handle).st_mtime


class Place(NamedTuple):
    """One of those in the file, and until when it is held where no answer comes."""

    number: int
    until: float


class SharedPace:
    """Gives each request a place, from before it is sent until a second after its answer.

    When it arrives, between these two, only the platform knows: a busy machine or network delivers late. While it
    has its place nobody else does, so no second sees more requests than there are places, whoever sends them.
    There are `per_minute / 60`; where that is no whole number, one more of them and a longer second.

    The places stand in a file that all processes can lock: in one folder, or on a file system that several
    machines share. The time is that of this file system, one for all: workers whose own clocks were 60 s apart
    took each other's places for free, and sent 65 requests a second, of which 10 were allowed.
    """

    def __init__(
        self,
        file: Path,
        per_minute: int,
        timing: Timing | None = None,
        clock: Callable[[int], float] = file_system_time,
    ) -> None:
        self._file = file
        self._clock = clock
        self._places = -(-per_minute // 60)
        self._window = _CLOCK_MARGIN * 60 * self._places / per_minute
        self._timing = timing or Timing()
        self._front_of_queue = asyncio.Lock()
        """One of all that wait in this process looks at the file, the one that has waited longest."""

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Enter when a request may be sent, leave when it was answered.

        Raises:
            OSError: the file cannot be written.
        """
        async with self._front_of_queue:
            while not isinstance(place := self.take(), Place):
                await self._timing.sleep(place)
        try:
            yield
        finally:
            self._answered(place)

    def take(self) -> Place | float:
        """A place, or the seconds until one can be free."""
        with self._held() as (until, now):
            number = min(range(self._places), key=until.__getitem__)
            if until[number] > now:
                # What is answered from now on stays held for a window.
                return min(until[number] - now, self._window)
            until[number] = now + self._window + _LEASE_SECONDS
            return Place(number, until[number])

    def _answered(self, place: Place) -> None:
        with self._held() as (until, now):
            if until[place.number] == place.until:
                until[place.number] = now + self._window

    @contextmanager
    def _held(self) -> Generator[tuple[list[float], float]]:
        """Until when each place is held, to be changed, and what time it is. The lock is held for microseconds."""
        handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            now = self._clock(handle)
            written = os.pread(handle, os.fstat(handle).st_size, 0)
            longest = now + self._window + _LEASE_SECONDS  # beyond it a wrong clock wrote
            until = [one if one <= longest else 0.0 for one in array("d", written[: len(written) // 8 * 8])]
            if len(until) != self._places:  # another ceiling, or a new file
                until = sorted([0.0] * self._places + until)[-self._places :]
            yield until, now
            os.ftruncate(handle, 8 * self._places)
            os.pwrite(handle, array("d", until).tobytes(), 0)
        finally:
            os.close(handle)
