"""Limits on the requests of a practice: how many at once, and how soon after each other."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import structlog
from anyio import CapacityLimiter

from vetl.core.errors import RateLimited, Unreachable
from vetl.partner.account import Limits, checked_practice_id
from vetl.partner.timing import Timing

NOTED_FROM = 10.0
"""Seconds from which on a pause is logged as a warning."""

_log = structlog.stdlib.get_logger("vetl.partner")


class Spacing:
    """The time at which the next request may start. A quota per minute is kept by spacing the requests.

    A burst and a full minute after it would exceed the quota.
    """

    def __init__(self, per_minute: int | None, timing: Timing) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._timing = timing
        self._opens_at = 0.0

    async def turn(self) -> None:
        """Wait until a request may start. Time slept counts as passed, even if the clock shows less."""
        passed = self._timing.monotonic() if self._opens_at else 0.0
        while (opens_at := self._opens_at) > passed:
            await self._timing.sleep(opens_at - passed)
            passed = opens_at
        if self._gap:
            self._opens_at = max(passed, self._timing.monotonic()) + self._gap

    def pause(self, seconds: float) -> bool:
        """Let no request start for so long; return whether none could start before."""
        opens_at = self._timing.monotonic() + seconds
        is_later, self._opens_at = opens_at > self._opens_at, max(self._opens_at, opens_at)
        return is_later


class RateLimiter:
    """Lets the requests of one practice through, first come, first served.

    The number of requests under way is at most `ceiling`. It is halved after a 429 or if no answer comes, once for
    all requests that were under way together, and grows by one after every full round that succeeds. `everywhere`
    and `account` are the limits of all practices together.
    """

    def __init__(
        self,
        name: str,
        ceiling: int,
        per_minute: int | None,
        timing: Timing,
        everywhere: CapacityLimiter | None = None,
        account: Spacing | None = None,
    ) -> None:
        self._name, self._ceiling = name, ceiling
        self._places = CapacityLimiter(ceiling)
        self._everywhere = everywhere or CapacityLimiter(ceiling)
        self._spacings = [Spacing(per_minute, timing), *([account] if account else [])]
        self._cuts = self._successes = 0

    @property
    def limit(self) -> int:
        """Return how many requests may be under way now."""
        return int(self._places.total_tokens)

    @asynccontextmanager
    async def passing(self) -> AsyncGenerator[None]:
        """Enclose one request from its start to its answer. A `RateLimited` that passes through is a 429."""
        async with self._places:
            await self._spacings[0].turn()
            async with self._everywhere:
                for spacing in self._spacings[1:]:
                    await spacing.turn()
                cuts = self._cuts
                try:
                    yield
                except (RateLimited, Unreachable):
                    if cuts == self._cuts:
                        self.halve()
                    raise
                self._grow()

    def pause(self, seconds: float) -> None:
        """Let no request of this practice start for so long, because the platform asks for it."""
        if self._spacings[0].pause(seconds):
            _log.info("rate_limited", practice=self._name, pause=round(seconds, 3), in_flight=self.limit)
            if seconds >= NOTED_FROM:
                _log.warning("platform_asks_to_wait", about=self._name, seconds=round(seconds, 1))

    def halve(self) -> None:
        """Let half as many requests be under way."""
        self._cuts += 1
        self._successes = 0
        self._places.total_tokens = max(1, self.limit // 2)
        _log.debug("fewer_requests", practice=self._name, in_flight=self.limit)

    def _grow(self) -> None:
        self._successes += 1
        if self._successes >= self.limit and self.limit < self._ceiling:
            self._successes = 0
            self._places.total_tokens = self.limit + 1


class Limiters:
    """The limiters of all practices, which share the limits of the account."""

    def __init__(self, limits: Limits, timing: Timing) -> None:
        self._limits, self._timing = limits, timing
        self._everywhere = CapacityLimiter(limits.max_in_flight_total)
        total = limits.requests_per_minute_total
        self._account = Spacing(total, timing) if total else None
        self._made: dict[tuple[str, int | None], RateLimiter] = {}

    def of(self, practice_id: str, per_minute: int | None = None) -> RateLimiter:
        """Return the limiter of a practice's requests, or of those with a separate quota per minute."""
        if (practice_id, per_minute) not in self._made:
            self._made[practice_id, per_minute] = RateLimiter(
                checked_practice_id(practice_id),
                self._limits.max_in_flight,
                per_minute or self._limits.requests_per_minute,
                self._timing,
                self._everywhere,
                self._account,
            )
        return self._made[practice_id, per_minute]
