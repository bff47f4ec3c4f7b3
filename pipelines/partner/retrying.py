"""How often, and after what wait, a request is repeated.

Not stamina: the limit differs by cause (a 429 or an expired token is no failure of the request),
`Retry-After` must be heeded, and time is injected; what stays is the few lines below.
"""

from collections.abc import Callable

import structlog

from pipelines.core.errors import ContractBroken, RateLimited, SignInRefused, TokenRejected, Transient
from pipelines.partner.timing import Timing
from pipelines.partner.wait_budget import MOST_WAITED, WaitBudget, heeded

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0

REPLAYS = 5
"""How often a request follows a fresh sign-in (design: How each list is read)."""

REPLAYS_OF_USED_UP = 20
"""... where each time the token was good for other requests, which have used it up."""

RATE_LIMITED_ATTEMPTS = 12
"""429s that one request endures. Without `Retry-After` their pauses add up to minutes, longer than any
per-minute quota; the pause itself is made by the practice's `RateLimiter`, for all its requests alike."""

REFUSALS = 4
"""Sign-ins that are tried before a refusal of credentials that worked before is believed."""

_log = structlog.stdlib.get_logger("vetl.partner")


def backoff(failures: int, chance: float) -> float:
    """Exponential backoff with full jitter: seconds after the n-th failure, n from 1."""
    return chance * min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(failures - 1, 10))


class RetryBudget:
    """What is left of the attempts of one request, whose running number is `attempt`."""

    __slots__ = (
        *("_attempts", "_failures", "_limited", "_wait_budget", "_refused", "_rejections", "_timing"),
        *("asked", "attempt", "forbidden"),
    )

    def __init__(self, asked: str, attempts: int, timing: Timing, wait_budget: WaitBudget) -> None:
        self.attempt = 1
        self.forbidden = False
        self.asked, self._attempts, self._timing, self._wait_budget = asked, attempts, timing, wait_budget
        self._failures = self._limited = self._refused = 0
        self._rejections: list[TokenRejected] = []

    @property
    def rejected(self) -> int:
        """How often a token was rejected."""
        return len(self._rejections)

    async def wait(
        self,
        error: Transient | ContractBroken | SignInRefused,
        tell: Callable[[int, float], None] = lambda _attempt, _seconds: None,
    ) -> None:
        """Wait until the request may be repeated; raise `error` where it has been repeated often enough.

        `tell` is told the number of the coming attempt and the seconds before it, where there are any.
        """
        wait = self._next_wait(error)
        if wait is None:
            tried = f" ({self.attempt} attempts)" if self.attempt > 1 else ""
            error.args = (f"{error}{tried}",)
            raise error
        _log.info("retry", asked=self.asked, attempt=self.attempt, wait=round(wait, 3), cause=str(error))
        self.attempt += 1
        if wait:
            tell(self.attempt, wait)
            await self._timing.sleep(wait)

    def _next_wait(self, error: Transient | ContractBroken | SignInRefused) -> float | None:
        if isinstance(error, RateLimited):
            self._limited += 1
            return 0.0 if self._limited < RATE_LIMITED_ATTEMPTS and self._is_patient(error) else None
        if isinstance(error, TokenRejected):
            self._rejections.append(error)
            # Looked at again each time: what used a token up may have been answered after the 401.
            in_vain = sum(not one.is_used_up() for one in self._rejections)
            if in_vain > REPLAYS or self.rejected > REPLAYS_OF_USED_UP:
                return None
            return backoff(in_vain - 1, self._timing.chance()) if in_vain > 1 else 0.0
        if isinstance(error, SignInRefused):
            self._refused += 1
            # Seconds apart: a bad moment has to pass, and what counts refused sign-ins shall not see a burst.
            apart = backoff(self._refused + 2, (1 + self._timing.chance()) / 2)
            return apart if self._refused < REFUSALS else None
        self._failures += 1
        if self._failures >= self._attempts:
            return None
        asked = heeded(getattr(error, "retry_after", None), self.asked)
        if asked is None:
            return backoff(self._failures, self._timing.chance())
        return self._wait_budget.granted(self.asked, asked) if self._is_patient(error) else None

    def _is_patient(self, error: Transient | ContractBroken) -> bool:
        if self._wait_budget.exhausted:
            waited = f"waited {MOST_WAITED / 60:.0f} minutes for the platform in all, and not any longer"
            error.args = (f"{error}; {waited}: try again later",)
        return not self._wait_budget.exhausted
