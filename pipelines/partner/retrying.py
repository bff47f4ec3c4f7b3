"""How often, and after what wait, a request is repeated.

Not stamina: the limit differs by cause (a 429 or an expired token is no failure of the request),
`Retry-After` must be heeded, and time is injected; what stays is the few lines below.
"""

import structlog

from pipelines.errors import ContractBroken, RateLimited, TokenRejected, Transient
from pipelines.partner.timing import Timing

LONGEST_ASKED_WAIT = 600.0
"""Seconds. A server that asks for more is asked again sooner, and the log says so."""

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0

REPLAYS = 5
"""How often a request follows a fresh sign-in (design: How each list is read)."""

RATE_LIMITED_ATTEMPTS = 12
"""429s that one request endures. Without `Retry-After` their pauses add up to minutes, longer than any
per-minute quota; the pause itself is made by the practice's `Gate`, for all its requests alike."""

_log = structlog.stdlib.get_logger("vetl.partner")


def backoff(failures: int, chance: float) -> float:
    """Exponential backoff with full jitter: seconds after the n-th failure, n from 1."""
    return chance * min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(failures - 1, 10))


def heeded(retry_after: float | None, about: str) -> float | None:
    """What the server asks for, within bounds; `None` where it asks for nothing."""
    if not retry_after:
        return None
    if retry_after > LONGEST_ASKED_WAIT:
        _log.warning("retry_after_bounded", about=about, asked=retry_after, waits=LONGEST_ASKED_WAIT)
    return min(retry_after, LONGEST_ASKED_WAIT)


class Patience:
    """What is left of the attempts of one request, whose running number is `attempt`."""

    __slots__ = ("_asked", "_attempts", "_failures", "_limited", "_rejected", "_timing", "attempt")

    def __init__(self, asked: str, attempts: int, timing: Timing) -> None:
        self.attempt = 1
        self._asked, self._attempts, self._timing = asked, attempts, timing
        self._failures = self._limited = self._rejected = 0

    async def wait(self, error: Transient | ContractBroken) -> None:
        """Wait until the request may be repeated; raise `error` where it has been repeated often enough."""
        wait = self._next_wait(error)
        if wait is None:
            tried = f" ({self.attempt} attempts)" if self.attempt > 1 else ""
            error.args = (f"{error}{tried}",)
            raise error
        _log.info("retry", asked=self._asked, attempt=self.attempt, wait=round(wait, 3), cause=str(error))
        self.attempt += 1
        if wait:
            await self._timing.sleep(wait)

    def _next_wait(self, error: Transient | ContractBroken) -> float | None:
        if isinstance(error, RateLimited):
            self._limited += 1
            return 0.0 if self._limited < RATE_LIMITED_ATTEMPTS else None
        if isinstance(error, TokenRejected):
            self._rejected += 1
            if self._rejected > REPLAYS:
                return None
            return backoff(self._rejected - 1, self._timing.chance()) if self._rejected > 1 else 0.0
        self._failures += 1
        if self._failures >= self._attempts:
            return None
        asked = heeded(getattr(error, "retry_after", None), self._asked)
        return backoff(self._failures, self._timing.chance()) if asked is None else asked
