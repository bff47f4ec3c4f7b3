"""The agenda of the platform: work that is due at instants of its clock."""

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from vetl_sandbox.clock import VirtualClock

Work = Callable[[], None]
_SIDE_BY_SIDE: Final = 32
_ALIKE: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(order=True)
class _Entry:
    due: datetime
    number: int
    work: Work = field(compare=False)


class Agenda:
    """Work in the order of its instants, each done before the clock shows a later time.

    `advance` does the work between the old and the new time. For a clock that runs by itself, a thread calls
    `run_due` now and then. One thing is done at a time, so the outcome does not depend on threads. Only errands
    outside (`send_out`) run side by side, and the clock does not move on before all of them are back.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._entries: list[_Entry] = []
        self._back: list[_Entry] = []
        self._outside = 0
        self._numbers = count()
        self._turn = threading.Lock()
        self._news = threading.Condition()

    def add(self, due: datetime, work: Work) -> None:
        """Do something at an instant, or now if the instant has passed."""
        with self._news:
            heapq.heappush(self._entries, _Entry(due, next(self._numbers), work))
            self._news.notify_all()

    def after(self, seconds: float, work: Work) -> None:
        """Do something in some seconds."""
        self.add(self._clock.now() + timedelta(seconds=seconds), work)

    def send_out(self, errand: Callable[[], Work]) -> None:
        """Do slow work in a thread of its own, then do here the work that it returns."""
        with self._news:
            self._news.wait_for(lambda: self._outside < _SIDE_BY_SIDE)
            self._outside += 1
            number = next(self._numbers)

        def run() -> None:
            work = _nothing
            try:
                work = errand()
            finally:
                with self._news:
                    self._outside -= 1
                    heapq.heappush(self._back, _Entry(_ALIKE, number, work))
                    self._news.notify_all()

        threading.Thread(target=run, name="sandbox-errand", daemon=True).start()

    def run_due(self, *, patiently: bool = True) -> None:
        """Do the work that is due and the work that follows at once; if `patiently`, wait for errands too."""
        with self._turn:
            self._run_until(self._clock.now(), patiently=patiently)

    def advance(self, by: timedelta) -> datetime:
        """Move the clock forward, do the work that comes due, and return the new time.

        Raises:
            ValueError: `by` is negative.
        """
        if by < timedelta(0):
            return self._clock.advance(by)
        with self._turn:
            target = self._clock.now() + by
            self._run_until(target, patiently=True)
            return self._clock.advance(max(target - self._clock.now(), timedelta(0)))

    def wait(self, seconds: float) -> None:
        """Sleep until work is due, work was added, an errand is back, or some wall seconds have passed."""
        with self._news:
            due = self._entries[0].due if self._entries else None
            left = seconds if due is None else (due - self._clock.now()).total_seconds()
            if left > 0 and not self._back:
                # A frozen clock does not reach the next instant by waiting.
                self._news.wait(seconds if self._clock.frozen else min(left, seconds))

    def _run_until(self, target: datetime, *, patiently: bool) -> None:
        while (entry := self._next(target, patiently=patiently)) is not None:
            self._clock.advance(max(entry.due - self._clock.now(), timedelta(0)))
            entry.work()

    def _next(self, target: datetime, *, patiently: bool) -> _Entry | None:
        """Return the work that is due, else an errand that is back, else the next work."""
        with self._news:
            while not self._entries or self._entries[0].due > self._clock.now():
                if not (patiently and self._outside):
                    break
                self._news.wait()
            else:
                return heapq.heappop(self._entries)
            if self._back:
                return heapq.heappop(self._back)
            return heapq.heappop(self._entries) if self._entries and self._entries[0].due <= target else None


def _nothing() -> None:
    """Do nothing: the result of an errand that failed."""
