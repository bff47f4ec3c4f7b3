"""When a request is sent: the clocks, and the limits on the requests of a practice.

Time and randomness are in one place, so that tests can control them.
"""

import asyncio
import random
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from anyio import CapacityLimiter

from vetl.core import errors
from vetl.partner.answers import http_date

SKEW = timedelta(minutes=5)
"""Most minutes by which the platform's clock may be ahead of other evidence of the time. Each sync reads a longer
time again, so that it reads rows that come within a time that was certified too early."""
LEEWAY = timedelta(days=1)
"""Most time by which the platform's clock may be ahead without a warning, as this machine's may be wrong."""

_HEADER_VALUE = re.compile(r"[!-~]+(?: [!-~]+)*")
_log = structlog.stdlib.get_logger("vetl.partner")


@dataclass(frozen=True, slots=True)
class Limits:
    """The most requests that may be sent at once and per minute.

    `max_in_flight` and `requests_per_minute` apply to one practice, those with `total` to all practices together.
    `timeout_seconds` limits the connection and each piece of an answer.
    """

    max_in_flight: int = 8
    requests_per_minute: int | None = None
    timeout_seconds: float = 30
    max_in_flight_total: int = 32
    requests_per_minute_total: int | None = None


def checked_practice_id(practice_id: str) -> str:
    """Return the id if the `X-Client-Id` header can carry it.

    Raise `ConfigurationError` if it is empty, or has a character that is not printable ASCII.
    """
    if not _HEADER_VALUE.fullmatch(practice_id):
        raise errors.ConfigurationError(
            f"practices: the id {practice_id[:60]!a} cannot be sent as X-Client-Id (printable ASCII only)"
        )
    return practice_id


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock and the randomness of this machine: `now` is aware UTC, `chance` is uniform in [0, 1)."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class ServerClock:
    """The platform's clock by the `Date` headers of its answers, limited to plausible times.

    A certificate for a future time would hide the rows that come until then. So a `Date` is accepted if it is at
    most five minutes ahead of this machine's clock, or of the latest instant that the last sync or the newest row
    confirms (`support`). A later `Date` counts as that latest instant, and if it is more than a day later, it is
    stored in `doubted`. After the first answer the clock advances like this machine's, so a header that jumps
    ahead is not accepted. If other evidence shows that this machine is more than a day behind, a `Date` may be a
    day ahead of that evidence.

    The time of an answer without a usable `Date` is this machine's time, corrected by the last `Date`.
    """

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._ahead = timedelta()
        self._complained = False
        self._supported = datetime.min.replace(tzinfo=UTC)
        self._first: tuple[datetime, float] | None = None
        self.doubted: datetime | None = None

    @property
    def latest_plausible(self) -> datetime:
        """Return the latest instant that other evidence than a header confirms."""
        return max(self._timing.now(), self._supported)

    def support(self, instant: datetime) -> None:
        """Confirm that the platform's clock has reached an instant; reset the doubt."""
        self._supported = max(self._supported, instant)
        self._first = self.doubted = None

    def bounded(self, platform_time: datetime) -> datetime:
        """Return the platform's time, or the latest plausible instant if that time is later."""
        latest = self.latest_plausible
        room = LEEWAY if self._supported - self._timing.now() > LEEWAY else SKEW
        if self._first is not None:
            seen, at = self._first
            latest = min(latest, seen + timedelta(seconds=self._timing.monotonic() - at))
        if platform_time - latest <= room:
            return platform_time
        if platform_time - latest > LEEWAY:
            self.doubted = max(self.doubted or platform_time, platform_time)
        return latest

    def read(self, header: str | None) -> datetime:
        """Return the time of an answer with this `Date` header, in aware UTC."""
        here, there = self._timing.now(), http_date(header)
        if there is not None:
            self._ahead = there - here
            believed = self.bounded(there)
            self._first = self._first or (believed, self._timing.monotonic())
            return believed
        if not self._complained:
            self._complained = True
            _log.warning("answer_without_date", instead="this machine's clock", ahead=str(self._ahead))
        try:
            return self.bounded(here + self._ahead)
        except OverflowError:
            return here


NOTED_FROM = 10.0
"""Seconds from which on a pause is logged as a warning."""


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


PATIENCE = 100
"""Successes before one request more is sent at once than the platform has accepted."""
ALL = "all practices"


class ConcurrencyLimit:
    """How many requests may be under way together: at most `ceiling`.

    The limit is halved after a 429 or if no answer comes, once for all requests that were under way together, and
    grows by one after every full round that succeeds. A 429 may mean that so many at once are not allowed, so this
    number is tried again only after a hundred successes. If the request was alone, the cause is another, such as a
    quota.
    """

    def __init__(self, ceiling: int, name: str) -> None:
        self._name = name
        self.places = CapacityLimiter(ceiling)
        self.successes = 0
        self._ceiling = ceiling
        self._refused_at = ceiling + 1
        self._under_way = self._cuts = self._round = 0

    @property
    def limit(self) -> int:
        """Return how many requests may be under way now."""
        return int(self.places.total_tokens)

    @contextmanager
    def request(self, matters: Callable[[errors.Transient], bool] = lambda _: True) -> Generator[int]:
        """Enclose one request that has a place; yield how many are under way with it.

        An error for which `matters` is false changes nothing.
        """
        self._under_way += 1
        together, cuts = self._under_way, self._cuts
        try:
            yield together
        except (errors.RateLimited, errors.Unreachable) as error:
            if cuts == self._cuts and matters(error):
                self.halve(together if isinstance(error, errors.RateLimited) else None)
            raise
        else:
            self._grow()
        finally:
            self._under_way -= 1

    def halve(self, refused_at: int | None = None) -> None:
        """Let half as many requests be under way; `refused_at` is the number at which the platform refused one."""
        most = self.limit
        if refused_at == 1:
            self._refused_at = self._ceiling + 1
        elif refused_at is not None:
            self._refused_at = most = min(most, refused_at)
        self._cuts += 1
        self._round = 0
        self.places.total_tokens = max(1, most // 2)
        _log.debug("fewer_requests", practice=self._name, in_flight=self.limit)

    def _grow(self) -> None:
        self.successes += 1
        self._round += 1
        enough = self.limit if self.limit + 1 < self._refused_at else PATIENCE
        if self._round >= enough and self.limit < self._ceiling:
            self._round = 0
            self.places.total_tokens = self.limit + 1


class RateLimiter:
    """Lets the requests of one practice through, first come, first served.

    `everywhere` and `account` are the limits of all practices together.
    """

    def __init__(
        self,
        name: str,
        ceiling: int,
        per_minute: int | None,
        timing: Timing,
        everywhere: ConcurrencyLimit | None = None,
        account: Spacing | None = None,
    ) -> None:
        self._name = name
        self._own = ConcurrencyLimit(ceiling, name)
        self._everywhere = everywhere or ConcurrencyLimit(ceiling, ALL)
        self._spacings = [Spacing(per_minute, timing), *([account] if account else [])]

    @property
    def limit(self) -> int:
        """Return how many requests may be under way now."""
        return self._own.limit

    @property
    def successes(self) -> int:
        """Return how many requests of this practice have succeeded."""
        return self._own.successes

    @asynccontextmanager
    async def passing(self) -> AsyncGenerator[None]:
        """Enclose one request from its start to its answer. A `RateLimited` that passes through is a 429."""

        def is_for_all(error: errors.Transient) -> bool:
            """Return whether too many requests of all practices may be the cause; a quota comes with a time."""
            return together == 1 and isinstance(error, errors.RateLimited) and not error.retry_after

        async with self._own.places:
            await self._spacings[0].turn()
            async with self._everywhere.places:
                for spacing in self._spacings[1:]:
                    await spacing.turn()
                with self._own.request() as together, self._everywhere.request(is_for_all):
                    yield

    def pause(self, seconds: float) -> None:
        """Let no request of this practice start for so long, because the platform asks for it."""
        if self._spacings[0].pause(seconds):
            _log.info("rate_limited", practice=self._name, pause=round(seconds, 3), in_flight=self.limit)
            if seconds >= NOTED_FROM:
                _log.warning("platform_asks_to_wait", about=self._name, seconds=round(seconds, 1))

    def halve(self) -> None:
        """Let half as many requests be under way."""
        self._own.halve()


class Limiters:
    """The limiters of all practices, which share the limits of the account."""

    def __init__(self, limits: Limits, timing: Timing) -> None:
        self._limits, self._timing = limits, timing
        self._everywhere = ConcurrencyLimit(limits.max_in_flight_total, ALL)
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
