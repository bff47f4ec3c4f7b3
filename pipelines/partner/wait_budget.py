"""How long the platform may keep everybody waiting: a sync that waits holds the warehouse."""

from collections import Counter

import structlog

from pipelines.partner.timing import Timing

LONGEST_ASKED_WAIT = 600.0
"""Seconds. A server that asks for more is asked again sooner, and the log says so."""

MOST_WAITED = 900.0
"""Seconds that a client waits in all without getting on."""

QUOTA_PAUSE = 60.0
QUOTA_ANSWERS = 10
"""A pause of a minute after some answers is a quota that has been used up: it may come as often as it likes."""

TOLD_FROM = 10.0
"""Seconds. A shorter wait is not worth a line."""

_log = structlog.stdlib.get_logger("vetl.partner")


class WaitBudget:
    """What is left of the time that one client may be kept waiting, over all practices.

    Pauses that overlap count once. A quota's pauses do not count, see `QUOTA_ANSWERS`.
    """

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._left = MOST_WAITED
        self._until = 0.0
        self._answers: Counter[str] = Counter()

    @property
    def exhausted(self) -> bool:
        """Whether nothing is waited for any more."""
        return self._left <= 0

    def answered(self, who: str) -> None:
        """A request of this practice went well."""
        self._answers[who] += 1

    def granted(self, who: str, seconds: float) -> float:
        """How much of a pause is made."""
        answers = self._answers.pop(who, 0)
        if seconds > QUOTA_PAUSE or answers < QUOTA_ANSWERS:
            now = self._timing.monotonic()
            counted_from = max(now, self._until)
            seconds = min(seconds, counted_from - now + max(0.0, self._left))
            self._left -= max(0.0, now + seconds - counted_from)
            self._until = max(self._until, now + seconds)
        if seconds >= TOLD_FROM:
            _log.warning("platform_asks_to_wait", about=who, seconds=round(seconds, 1))
        return seconds


def heeded(retry_after: float | None, about: str) -> float | None:
    """What the server asks for, within bounds; `None` where it asks for nothing."""
    if not retry_after:
        return None
    if retry_after > LONGEST_ASKED_WAIT:
        _log.warning("retry_after_bounded", about=about, asked=retry_after, waits=LONGEST_ASKED_WAIT)
    return min(retry_after, LONGEST_ASKED_WAIT)
