"""A limit on requests per minute that all processes of an account share, on one machine or on several."""

import asyncio
import fcntl
import os
from array import array
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

from vetl.partner.timing import Timing

_CLOCK_MARGIN = 1.01
"""Running clocks are corrected in small steps."""
_LEASE_SECONDS = 30.0
"""After this time without an answer a place is free: the request has arrived, or its process has ended."""


def file_system_time(handle: int) -> float:
    """Return the time of an open file's file system, in seconds, by touching the file."""
    os.utime(handle)
    return os.fstat(handle).st_mtime


class Place(NamedTuple):
    """A place in the file, and the time at which it is free if no answer comes."""

    number: int
    until: float


class SharedPace:
    """Gives each request a place, from before it is sent until a second after its answer.

    Only the platform knows when the request arrives between these two times, because a busy machine or network
    delivers late. No other request has the place meanwhile, so that at most as many requests arrive in a second as
    there are places. There are `per_minute / 60` places. If that is not a whole number, there is one more place,
    and each is kept a little longer than a second.

    The places are in a file that all processes can lock: in one folder, or on a file system that several machines
    share. The clock is that of this file system. With their own clocks, 60 s apart, workers took each other's
    places as free, and sent 65 requests a second instead of 10.
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
        """Held by the request of this process that has waited longest: only it reads the file."""

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Enter when a request may be sent, and leave when it was answered.

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
        """Return a place, or the seconds until a place can be free."""
        with self._locked() as (until, now):
            number = min(range(self._places), key=until.__getitem__)
            if until[number] > now:
                # A place whose request is answered from now on is free after a window.
                return min(until[number] - now, self._window)
            until[number] = now + self._window + _LEASE_SECONDS
            return Place(number, until[number])

    def _answered(self, place: Place) -> None:
        with self._locked() as (until, now):
            if until[place.number] == place.until:
                until[place.number] = now + self._window

    @contextmanager
    def _locked(self) -> Generator[tuple[list[float], float]]:
        """Lock the file. Yield the time at which each place is free, to be changed, and the time now."""
        handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            now = self._clock(handle)
            written = os.pread(handle, os.fstat(handle).st_size, 0)
            longest = now + self._window + _LEASE_SECONDS  # a later time was written by a wrong clock
            until = [end if end <= longest else 0.0 for end in array("d", written[: len(written) // 8 * 8])]
            if len(until) != self._places:  # the limit has changed, or the file is new
                until = sorted([0.0] * self._places + until)[-self._places :]
            yield until, now
            os.ftruncate(handle, 8 * self._places)
            os.pwrite(handle, array("d", until).tobytes(), 0)
        finally:
            os.close(handle)
