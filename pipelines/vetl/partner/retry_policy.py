"""The policy of repetitions: attempts, backoff and pauses by kind of failure, and the budget of waiting.

It does not use stamina, because the limit depends on the cause (a 429 or an expired token is no failure of the
request), `Retry-After` must be followed, and tests inject the time.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

import structlog

from vetl.core.errors import (
    ContractBroken,
    RateLimited,
    SignInRefused,
    TokenRejected,
    TooLarge,
    TornAnswer,
    Transient,
    Unreachable,
)
from vetl.partner.timing import Timing

NOTED_FROM = 10.0
"""Seconds from which on a pause is logged."""

Failure = Transient | ContractBroken | SignInRefused

_log = structlog.stdlib.get_logger("vetl.partner")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits of repetitions and of waiting; all times are in seconds."""

    attempts: int = 6
    """Most attempts of a request without a complete answer."""
    first_wait: float = 0.5
    longest_wait: float = 30.0
    """Longest wait that vetl chooses itself."""
    replays: int = 5
    """Most repetitions of a request after a new sign-in (design: How each list is read)."""
    replays_of_used_up: int = 20
    """... if each time other requests have used up the token."""
    rate_limited_attempts: int = 12
    """Most answers 429 of one request. Without `Retry-After` their pauses add up to minutes, longer than any quota
    per minute."""
    refused_sign_ins: int = 4
    """Attempts of a sign-in before a refusal of credentials that worked before is final."""
    quota_pause: float = 60.0
    quota_answers: int = 10
    """A pause of at most a minute after so many answers shows a used-up quota; it costs nothing of the budget and
    may come any number of times."""
    usual_answer: float = 10.0
    slowest: float = 10_000.0
    """An answer may take `usual_answer`, and a second for each `slowest` bytes. The rest counts as waiting: a
    server that sends a byte now and then never exceeds a timeout, and could keep a run going for hours."""
    max_wait: float = 300.0
    """Most time in all that one practice may wait without an answer."""
    max_wait_total: float = 900.0
    """Most time in all that all practices together may wait."""

    def backoff(self, failures: int, chance: float) -> float:
        """Return the exponential backoff with full jitter: seconds after the n-th failure, n from 1."""
        return chance * min(self.longest_wait, self.first_wait * 2 ** min(failures - 1, 10))

    def pause(self, refusals: int, chance: float) -> float:
        """Return the pause after the n-th refusal in a row; half of it is fixed, as a quota refills with time."""
        return self.backoff(refusals, (1 + chance) / 2)


class _Ledger:
    """A budget of waiting; waits that overlap count once."""

    def __init__(self, most: float) -> None:
        self._left = most
        self._until = 0.0

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return max(0.0, self._left)

    def cost(self, start: float, end: float) -> float:
        """Return the seconds of a wait that are not counted yet."""
        return max(0.0, end - max(start, self._until))

    def spend(self, start: float, end: float, *, is_free: bool = False) -> None:
        """Count a wait; if it is free, only note its time."""
        self._left -= 0.0 if is_free else self.cost(start, end)
        self._until = max(self._until, end)


class WaitBudget:
    """The budget of waiting of one client, by practice and in all.

    A pause before a repetition, an attempt without a result and the slowness of an answer count as waiting, so
    that an endless answer costs as much as a demanded pause. `allows` checks the budget, and `spend` reduces it.
    """

    def __init__(self, policy: RetryPolicy, timing: Timing) -> None:
        self.policy, self.timing = policy, timing
        self._of_all = _Ledger(policy.max_wait_total)
        self._by_practice: dict[str, _Ledger] = {}
        self._answers: Counter[str] = Counter()

    def left(self, who: str) -> float:
        """Return the seconds that this practice may still wait."""
        return min(ledger.left for ledger in self._ledgers(who))

    def answered(self, who: str) -> None:
        """Note a successful request of this practice."""
        self._answers[who] += 1

    def allows(self, who: str, pause: float) -> bool:
        """Return whether the budget allows a pause from now on."""
        now = self.timing.monotonic()
        fits = all(ledger.cost(now, now + pause) <= ledger.left for ledger in self._ledgers(who))
        return fits or self._is_quota(who, pause)

    def spend(self, who: str, pause: float) -> None:
        """Count a pause that begins now."""
        is_quota, now = self._is_quota(who, pause), self.timing.monotonic()
        for ledger in self._ledgers(who):
            ledger.spend(now, now + pause, is_free=is_quota)
        self._answers.pop(who, None)
        if pause >= NOTED_FROM:
            _log.warning("platform_asks_to_wait", about=who, seconds=round(pause, 1))

    def spend_since(self, who: str, start: float) -> None:
        """Count the time since `start`, which brought no result."""
        for ledger in self._ledgers(who):
            ledger.spend(start, self.timing.monotonic())

    def spend_answer(self, who: str, begun: float, size: int) -> bool:
        """Count the time by which an answer of `size` bytes was slow; return whether the budget allowed it."""
        start, now = begun + self.policy.usual_answer + size / self.policy.slowest, self.timing.monotonic()
        if now <= start:
            return True
        fits = all(ledger.cost(start, now) <= ledger.left for ledger in self._ledgers(who))
        for ledger in self._ledgers(who):
            ledger.spend(start, now)
        return fits

    def refusal(self, who: str, pause: float) -> str:
        """Return the reason why a pause is not made, and the time for another run."""
        key = "max_wait_seconds" if self._of(who).left <= self._of_all.left else "max_wait_seconds_total"
        return f"partner.{key} leaves {self.left(who):.0f} s of waiting; run again {self._when(pause)}"

    def _when(self, pause: float) -> str:
        try:
            at = self.timing.now() + timedelta(seconds=pause)
        except (OverflowError, ValueError):
            return "when the platform accepts requests again; its pause has no end"
        return f"after {at:%Y-%m-%d %H:%M} UTC"

    def _is_quota(self, who: str, pause: float) -> bool:
        return pause <= self.policy.quota_pause and self._answers[who] >= self.policy.quota_answers

    def _ledgers(self, who: str) -> tuple[_Ledger, _Ledger]:
        return self._of_all, self._of(who)

    def _of(self, who: str) -> _Ledger:
        return self._by_practice.setdefault(who, _Ledger(self.policy.max_wait))


class RetryBudget:
    """The attempts of one request; `attempt` is the number of the current attempt.

    `label` describes the request in messages, and `who` is the practice that waits.
    """

    __slots__ = (
        "_begun",
        "_failures",
        "_limited",
        "_policy",
        "_refused",
        "_rejections",
        "_timing",
        "_waits",
        "attempt",
        "forbidden",
        "label",
        "who",
    )

    def __init__(self, label: str, who: str, waits: WaitBudget) -> None:
        self.attempt = 1
        self.forbidden = False
        self.label, self.who, self._waits = label, who, waits
        self._policy, self._timing = waits.policy, waits.timing
        self._failures = self._limited = self._refused = 0
        self._rejections: list[TokenRejected] = []
        self.begin()

    @property
    def rejected(self) -> int:
        """Return the number of rejected tokens."""
        return len(self._rejections)

    def begin(self) -> None:
        """Note that an attempt begins now."""
        self._begun = self._timing.monotonic()

    async def wait(
        self, error: Failure, report: Callable[[int, float], None] = lambda _attempt, _seconds: None
    ) -> None:
        """Wait until the request may be repeated; raise `error` if no further attempt is allowed.

        `report` gets the number of the coming attempt and the seconds before it, if there are any.
        """
        if isinstance(error, Unreachable | TornAnswer):
            self._waits.spend_since(self.who, self._begun)
        wait = self._next_wait(error)
        if wait is None:
            self._give_up(error)
        if wait and not self._waits.allows(self.who, wait):
            self._give_up(error, self._waits.refusal(self.who, wait))
        _log.info("retry", asked=self.label, attempt=self.attempt, wait=round(wait, 3), cause=str(error))
        self.attempt += 1
        if wait:
            self._waits.spend(self.who, wait)
            report(self.attempt, wait)
            await self._timing.sleep(wait)

    def _give_up(self, error: Failure, why: str = "") -> NoReturn:
        if self.attempt > 1:
            error.add_note(f" ({self.attempt} attempts)")
        if why:
            error.add_note(f"; {why}")
        raise error

    def _next_wait(self, error: Failure) -> float | None:
        """Return the seconds before the next attempt, or `None` if no further attempt is allowed."""
        policy, chance = self._policy, self._timing.chance()
        if isinstance(error, RateLimited):
            self._limited += 1
            # The practice's `RateLimiter` makes the pause for all of its requests.
            return 0.0 if self._limited < policy.rate_limited_attempts and not error.is_final else None
        if isinstance(error, TokenRejected):
            self._rejections.append(error)
            # Checked each time again: the request that used up a token may be answered later.
            in_vain = sum(not rejection.is_used_up() for rejection in self._rejections)
            if in_vain > policy.replays or self.rejected > policy.replays_of_used_up:
                return None
            return policy.backoff(in_vain - 1, chance) if in_vain > 1 else 0.0
        if isinstance(error, SignInRefused):
            self._refused += 1
            # With pauses, so that a short failure passes and a counter of refused sign-ins sees no burst.
            return policy.pause(self._refused + 2, chance) if self._refused < policy.refused_sign_ins else None
        self._failures += 1
        if isinstance(error, TooLarge) or self._failures >= policy.attempts:
            return None
        return getattr(error, "retry_after", None) or policy.backoff(self._failures, chance)
