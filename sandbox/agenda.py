"""What will happen on the platform by itself: work that is due at instants of its clock."""

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from sandbox.clock import VirtualClock

Work = Callable[[], None]
_SIDE_BY_SIDE: Final = 32
_ALIKE: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(order=True)
class _Entry:
    due: datetime
    number: int
    work: Work = field(compare=False)


class Agenda:
    """Work in the order of its instants, each done while the clock tells no later time than it must.

    Whoever moves the clock does the work on the way (`advance`); for a clock that runs by itself somebody calls
    `run_due` now and then. One thing is done at a time, so that what happens does not depend on threads; only
    errands outside (`send_out`) are under way side by side, and the clock is not moved on before all are back.
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
        """Have something done at an instant; one that has passed is now."""
        with self._news:
            heapq.heappush(self._entries, _Entry(due, next(self._numbers), work))
            self._news.notify_all()

    def after(self, seconds: float, work: Work) -> None:
        """Have something done some seconds from now."""
        self.add(self._clock.now() + timedelta(seconds=seconds), work)

    def send_out(self, errand: Callable[[], Work]) -> None:
        """Have something done that takes its time, in a thread of its own; what it returns is done here then."""
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
        """Do what is due, and what comes of it at once; wait for errands unless told not to."""
        with self._turn:
            self._run_until(self._clock.now(), patiently=patiently)

    def advance(self, by: timedelta) -> datetime:
        """Move the clock forward, doing on the way what comes due, and tell the new time.

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
        """Sleep until something is due, was added, is back, or some wall seconds have passed."""
        with self._news:
            due = self._entries[0].due if self._entries else None
            left = seconds if due is None else (due - self._clock.now()).total_seconds()
            if left > 0 and not self._back:
                # A frozen clock does not get there by waiting.
                self._news.wait(seconds if self._clock.frozen else min(left, seconds))

    def _run_until(self, target: datetime, *, patiently: bool) -> None:
        while (entry := self._next(target, patiently=patiently)) is not None:
            self._clock.advance(max(entry.due - self._clock.now(), timedelta(0)))
            entry.work()

    def _next(self, target: datetime, *, patiently: bool) -> _Entry | None:
        """What is due by now; then, errands that are back, in the order of their going; then what comes next."""
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
    """What comes of an errand that failed."""
