"""Limits on the requests of a practice: how many at once, and how soon after each other."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import structlog

from vetl.core.errors import RateLimited, Unreachable
from vetl.partner.account import Limits, checked_practice_id
from vetl.partner.retry_policy import WaitBudget
from vetl.partner.semaphore import AdaptiveSemaphore

_log = structlog.stdlib.get_logger("vetl.partner")

OnceMore = Callable[[], Awaitable[None]]
"""Waits until the same request may be sent again without giving up its place."""


class RateLimiter:
    """Lets the requests of one practice through, first come, first served.

    The number of requests under way is at most `ceiling`. It is halved after a 429 or if no answer comes, and
    grows by one after every full round that succeeds. `everywhere` does the same for all practices together. After
    a 429 no request starts for as long as `Retry-After` says, or for a growing pause if the header is missing. A
    quota per minute is kept by spacing the requests, because a burst and a full minute after it would exceed the
    quota.
    """

    def __init__(
        self,
        name: str,
        ceiling: int,
        per_minute: int | None,
        waits: WaitBudget,
        everywhere: AdaptiveSemaphore | None = None,
    ) -> None:
        self._name = name
        self._spacing = 60 / per_minute if per_minute else 0.0
        self._timing, self._waits = waits.timing, waits
        self._places = AdaptiveSemaphore(ceiling)
        self._everywhere = everywhere or AdaptiveSemaphore(ceiling)
        self._opens_at = 0.0
        self._refusals_in_a_row = 0

    @property
    def limit(self) -> int:
        """Return how many requests may be under way now."""
        return self._places.limit

    @property
    def opens_in(self) -> float:
        """Return the seconds until the next request may start, as the platform asked."""
        return max(0.0, self._opens_at - self._timing.monotonic()) if self._opens_at else 0.0

    @asynccontextmanager
    async def passing(self) -> AsyncGenerator[OnceMore]:
        """Enclose one request from its start to its answer. A `RateLimited` that passes through is a 429.

        Some tokens are good for a few uses only, and requests under way use up each other's token. A request that
        was rejected for that keeps its place and is sent again before the requests that wait for a place.
        """
        async with self._places.taken():
            await self._open()
            async with self._everywhere.taken():
                seen = self._places.cuts, self._everywhere.cuts

                async def once_more() -> None:
                    nonlocal seen
                    self._fewer(*seen, "token_used_up")
                    seen = self._places.cuts, self._everywhere.cuts
                    await self._open()

                try:
                    yield once_more
                except RateLimited as error:
                    self._refused(seen[0], error)
                    raise
                except Unreachable:
                    self._fewer(*seen, "no_answer")
                    raise
                self._refusals_in_a_row = 0
                self._waits.answered(self._name)
                self._places.grow()
                self._everywhere.grow()

    async def _open(self) -> None:
        """Wait until the limiter is open. Time slept counts as passed, even if the clock shows less."""
        passed = self._timing.monotonic() if self._opens_at else 0.0
        while (opens_at := self._opens_at) > passed:
            await self._timing.sleep(opens_at - passed)
            passed = opens_at
        if self._spacing:
            self._opens_at = max(passed, self._timing.monotonic()) + self._spacing

    def _fewer(self, seen: int, seen_everywhere: int, cause: str) -> None:
        self._everywhere.halve(seen_everywhere)
        if self._places.halve(seen):
            _log.debug(cause, practice=self._name, in_flight=self.limit)

    def _refused(self, seen: int, error: RateLimited) -> None:
        """Halve the limit once for all requests under way together, and pause if the budget allows it."""
        fresh = self._places.halve(seen)
        self._refusals_in_a_row += fresh
        if not error.retry_after and not fresh:
            return
        chance = self._timing.chance()
        pause = error.retry_after or self._waits.policy.pause(self._refusals_in_a_row + 1, chance)
        if not self._waits.allows(self._name, pause):
            error.is_final = True
            error.add_note(f"; {self._waits.refusal(self._name, pause)}")
            return
        self._waits.spend(self._name, pause)
        self._opens_at = max(self._opens_at, self._timing.monotonic() + pause)
        _log.info("rate_limited", practice=self._name, pause=round(pause, 3), in_flight=self.limit)


class Limiters:
    """The limiters of all practices, which share one limit on requests under way."""

    def __init__(self, limits: Limits, waits: WaitBudget) -> None:
        self._limits, self._waits = limits, waits
        self._everywhere = AdaptiveSemaphore(limits.max_in_flight_total)
        self._made: dict[tuple[str, int | None], RateLimiter] = {}

    def of(self, practice_id: str, per_minute: int | None = None) -> RateLimiter:
        """Return the limiter of a practice's requests, or of those with a separate quota per minute."""
        if (practice_id, per_minute) not in self._made:
            self._made[practice_id, per_minute] = RateLimiter(
                checked_practice_id(practice_id),
                self._limits.max_in_flight,
                per_minute or self._limits.requests_per_minute,
                self._waits,
                self._everywhere,
            )
        return self._made[practice_id, per_minute]

    def lone(self, name: str) -> RateLimiter:
        """Return a limiter for requests without a practice, one at a time."""
        return RateLimiter(name, 1, None, self._waits)
