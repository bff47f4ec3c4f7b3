"""The clock that the platform lives by: it runs at wall speed and can be moved forward, never back."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 15, 17, 30, tzinfo=UTC)
"""Where the clock stands at the start: fixed, so that two runs show the same world."""


class VirtualClock:
    """Tells the platform's time, to the millisecond.

    Args:
        start: The time that it tells first.
        frozen: Whether it stands still between calls of `advance`.
        monotonic: The wall clock that drives it, in seconds.
    """

    def __init__(
        self,
        start: datetime = START,
        *,
        frozen: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._start = start.astimezone(UTC)
        self._began = monotonic()
        self._frozen = frozen

    @property
    def frozen(self) -> bool:
        """Whether it stands still."""
        return self._frozen

    def freeze(self) -> None:
        """Stand still at the present time."""
        self._start, self._frozen = self.now(), True

    def now(self) -> datetime:
        """The time, in UTC."""
        passed = 0.0 if self._frozen else self._monotonic() - self._began
        instant = self._start + timedelta(seconds=passed)
        return instant.replace(microsecond=instant.microsecond // 1000 * 1000)

    def advance(self, by: timedelta) -> datetime:
        """Move forward and tell the new time.

        Raises:
            ValueError: `by` is negative; what has been read must not become untrue.
        """
        if by < timedelta(0):
            raise ValueError("the clock only moves forward")
        self._start += by
        return self.now()
