"""The clock of the platform: it runs at wall speed and can be moved forward, never back."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 15, 17, 30, tzinfo=UTC)
"""The first time of the clock: fixed, so that two runs show the same world."""


class VirtualClock:
    """The platform's time, to the millisecond.

    Args:
        start: The first time.
        frozen: Whether the time stands still between calls of `advance`.
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
        """Whether the clock stands still."""
        return self._frozen

    def freeze(self) -> None:
        """Stand still at the present time."""
        self._start, self._frozen = self.now(), True

    def now(self) -> datetime:
        """Return the time, in UTC."""
        passed = 0.0 if self._frozen else self._monotonic() - self._began
        instant = self._start + timedelta(seconds=passed)
        return instant.replace(microsecond=instant.microsecond // 1000 * 1000)

    def advance(self, by: timedelta) -> datetime:
        """Move forward and return the new time.

        Raises:
            ValueError: `by` is negative; answers that were already given must stay true.
        """
        if by < timedelta(0):
            raise ValueError("the clock only moves forward")
        self._start += by
        return self.now()
