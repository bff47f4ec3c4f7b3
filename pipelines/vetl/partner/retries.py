"""When a request is sent again, and how long it may wait.

This does not use stamina, because the limit depends on the cause (a 429 or an expired token is no failure of the
request), and `Retry-After` must be followed.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta

import structlog

from vetl.core import errors
from vetl.partner.limits import Timing

_log = structlog.stdlib.get_logger("vetl.partner")

Failure = errors.Transient | errors.ContractBroken | errors.SignInRefused


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits of repetitions and of waiting; all times are in seconds."""

    attempts: int = 6
    """Most attempts of a request without a complete answer."""
    hopeless_attempts: int = 2
    """... if less can be requested instead, and the answer is too slow (each may have waited for a minute), or a
    5xx while the platform answers others and fails on some."""
    first_wait: float = 0.5
    longest_wait: float = 30.0
    """Longest pause that vetl chooses itself."""
    replays: int = 5
    """Most repetitions of a request after a new sign-in (docs/lossless.md)."""
    replays_of_used_up: int = 20
    """... if tokens were accepted for other requests: some are good for a few uses only."""
    rate_limited_attempts: int = 12
    """Most answers 429 of one request while no other of its practice succeeds. Without `Retry-After` their pauses
    add up to minutes, longer than any quota per minute."""
    refused_sign_ins: int = 4
    """Attempts of a sign-in before a refusal of credentials that worked before is final."""
    max_wait: float = 300.0
    """Most time in all that one request may pause; a pause beyond it is not begun."""
    max_run: float = 7200.0
    """Time after which a client sends no further request."""

    def backoff(self, failures: int, chance: float) -> float:
        """Return the exponential backoff with full jitter: seconds after the n-th failure, n from 1."""
        return chance * min(self.longest_wait, self.first_wait * 2 ** min(failures - 1, 10))

    def pause(self, refusals: int, chance: float) -> float:
        """Return the pause after the n-th refusal in a row; half of it is fixed.

        A quota refills with time, and a token may be valid only some time after its sign-in.
        """
        return self.backoff(refusals, (1 + chance) / 2)


class Deadline:
    """The end of a run, by the clock of this machine."""

    def __init__(self, policy: RetryPolicy, timing: Timing) -> None:
        self.policy, self.timing = policy, timing
        self._ends_at = timing.monotonic() + policy.max_run

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return max(0.0, self._ends_at - self.timing.monotonic())

    def check(self, label: str) -> None:
        """Raise Unreachable if no request may be sent any more."""
        if not self.left:
            raise errors.Unreachable(
                f"{label}: not sent, the run took longer than partner.max_run_seconds; the next run goes on"
            )


class RetryBudget:
    """The attempts of one request; `attempt` is the number of the current attempt, `label` is for messages.

    After an error of a type in `hopeless` less is requested instead, so that there are few attempts.
    """

    def __init__(self, label: str, deadline: Deadline, hopeless: tuple[type[errors.Failing], ...] = ()) -> None:
        self.label = label
        self.attempt = 1
        self.renewed = False
        self._deadline, self._hopeless = deadline, hopeless
        self._seen: Counter[type[Failure]] = Counter()
        self._rejected: list[Collection[str]] = []
        """For each rejected token the practices for which it was accepted."""
        self._left = deadline.policy.max_wait
        self._overtaken_by = 0

    @property
    def rejected(self) -> int:
        """Return the number of rejected tokens."""
        return len(self._rejected)

    def pause_after(self, error: Failure, good_for: Collection[str] = (), successes: int = 0) -> float:
        """Return the seconds before the next attempt; raise `error` if no further attempt is allowed.

        `good_for`: the practices for which the rejected token was accepted, now or later. `successes`: how many
        requests of the practice have succeeded; a 429 while others succeed is bad luck, and counts as the first.
        """
        if successes > self._overtaken_by:
            self._overtaken_by, self._seen[errors.RateLimited] = successes, 0
        seconds = self._seconds(error, good_for)
        why = "" if seconds is None else self._refusal(seconds)
        if seconds is None or why:
            if self.attempt > 1:
                error.add_note(f" ({self.attempt} attempts)")
            error.add_note(why)
            raise error
        self._left -= seconds
        _log.info("retry", asked=self.label, attempt=self.attempt, wait=round(seconds, 3), cause=str(error))
        self.attempt += 1
        return seconds

    async def wait(self, error: Failure, report: Callable[[int, float], None] | None = None) -> None:
        """Pause before the next attempt; raise `error` if no further attempt is allowed.

        `report` gets the number of the coming attempt and the seconds before it, if there are any.
        """
        if seconds := self.pause_after(error):
            if report is not None:
                report(self.attempt, seconds)
            await self._deadline.timing.sleep(seconds)

    def _seconds(self, error: Failure, good_for: Collection[str]) -> float | None:
        """Return the pause for this kind of failure, or `None` if its attempts are used up."""
        policy, chance = self._deadline.policy, self._deadline.timing.chance()
        if isinstance(error, errors.TokenRejected):
            self._rejected.append(good_for)
            # Checked each time again: a request that used up a token may be answered later.
            in_vain = sum(not practices for practices in self._rejected)
            if in_vain > policy.replays or self.rejected > policy.replays_of_used_up:
                return None
            return policy.pause(in_vain - 1, chance) if in_vain > 1 else 0.0
        if isinstance(error, errors.RateLimited):
            self._seen[errors.RateLimited] += 1
            refusals = self._seen[errors.RateLimited]
            pause = error.retry_after or policy.pause(refusals + 1, chance)
            return pause if refusals < policy.rate_limited_attempts else None
        if isinstance(error, errors.SignInRefused):
            self._seen[errors.SignInRefused] += 1
            refusals = self._seen[errors.SignInRefused]
            # With pauses, so that a short failure passes and a counter of refused sign-ins sees no burst.
            return policy.pause(refusals + 2, chance) if refusals < policy.refused_sign_ins else None
        self._seen[errors.Transient] += 1
        most = policy.hopeless_attempts if isinstance(error, self._hopeless) else policy.attempts
        if isinstance(error, errors.TooLarge | errors.Untrusted) or self._seen[errors.Transient] >= most:
            return None
        return getattr(error, "retry_after", None) or policy.backoff(self._seen[errors.Transient], chance)

    def _refusal(self, pause: float) -> str:
        """Return the reason why a pause is not begun, and the time for another run; empty if it may be begun."""
        if pause <= min(self._left, self._deadline.left):
            return ""
        left, key = min((self._left, "max_wait_seconds"), (self._deadline.left, "max_run_seconds"))
        try:
            at = self._deadline.timing.now() + timedelta(seconds=pause)
        except (OverflowError, ValueError):
            return f"; partner.{key} leaves {left:.0f} s of waiting; run again when the platform accepts requests"
        return f"; partner.{key} leaves {left:.0f} s of waiting; run again after {at:%Y-%m-%d %H:%M} UTC"
