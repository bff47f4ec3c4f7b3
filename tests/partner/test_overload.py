"""A platform that becomes slower the more it is asked at once, and clients that notice."""

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock, Semaphore
from typing import Any

import pytest
from pydantic import SecretStr
from support.lying_proxy import lying

import sandbox
from pipelines.partner.client import Account, Limits, PartnerClient, Timing
from pipelines.partner.limits import RateLimiter
from pipelines.partner.semaphore import AdaptiveSemaphore, Latency


class Desk:
    """A server that works on so many requests at once, each for so long; the others wait for their turn."""

    def __init__(self, at_once: int, seconds: float) -> None:
        self._turn, self._seconds, self._lock = Semaphore(at_once), seconds, Lock()
        self.inside = 0
        self.queues: list[int] = []
        self.begun: list[float] = []

    @contextmanager
    def serving(self) -> Generator[None]:
        with self._lock:
            self.inside += 1
            self.queues.append(self.inside)
            self.begun.append(time.monotonic())
        with self._turn:
            time.sleep(self._seconds)
        yield
        with self._lock:
            self.inside -= 1


def as_it_is(_path: str, _page: dict[str, Any]) -> None:
    """Nothing is changed."""


def read(desk: Desk, requests: int, practices: int, limits: Limits) -> float:
    """So many requests for each practice, all wanted at once. Returns how many seconds they took."""
    with (
        sandbox.running(practices=practices, calls=5, days=2, seed=3, frozen=True) as platform,
        lying(platform.base_url, as_it_is, desk.serving) as base_url,
    ):
        account = Account(base_url, platform.username, SecretStr(platform.password), platform.role)
        ids = [item["id"] for item in platform.describe()["practices"]]

        async def run() -> float:
            async with PartnerClient(account, limits) as client:
                await client.sign_in()
                desk.queues.clear()
                desk.begun.clear()
                started = time.monotonic()
                query: dict[str, Any] = {"page": "0", "per_page": "5"}
                wanted = [client.page(item, "staff_tasks", query) for item in ids for _ in range(requests)]
                await asyncio.gather(*wanted)
                return time.monotonic() - started

        return asyncio.run(run())


def test_what_is_asked_at_once_falls_to_what_the_platform_bears() -> None:
    """Two at once in 40 ms each: 16 at once would take 320 ms an answer and be no sooner done."""
    desk = Desk(2, 0.04)

    read(desk, 100, 1, Limits(max_in_flight=16))

    settled = sorted(desk.queues[50:])
    assert settled[len(settled) // 2] <= 12
    assert settled[len(settled) // 2] < max(desk.queues)


def test_many_practices_together_ask_no_more_than_the_platform_bears() -> None:
    desk = Desk(3, 0.04)

    read(desk, 40, 4, Limits(max_in_flight=8, max_in_flight_total=24))

    settled = sorted(desk.queues[-60:])
    assert settled[len(settled) // 2] <= 18
    assert settled[len(settled) // 2] < max(desk.queues)


@pytest.mark.parametrize(("seconds", "limit"), [(0.1, 16), (1.0, 2)])
def test_a_platform_that_bears_it_is_asked_as_much_as_is_configured(seconds: float, limit: int) -> None:
    async def scene() -> int:
        limiter = RateLimiter("loc-001", 16, None, Timing())
        async with limiter.passing() as answered:
            answered("page", 0.1)

        async def one() -> None:
            async with limiter.passing() as answered:
                await asyncio.sleep(0)
                answered("page", seconds)

        for _ in range(20):
            await asyncio.gather(*(one() for _ in range(16)))
        return limiter.limit

    assert asyncio.run(scene()) == limit


def test_never_more_than_the_configured_rate_however_much_is_wanted() -> None:
    desk = Desk(16, 0.001)

    read(desk, 21, 1, Limits(max_in_flight=16, requests_per_minute=1500))

    assert desk.begun[-1] - desk.begun[0] >= 20 * 60 / 1500 - 0.04


@pytest.mark.parametrize("taken", [16, 4])
def test_slowness_leaves_three_quarters_of_those_that_are_under_way(taken: int) -> None:
    async def scene() -> int:
        places = AdaptiveSemaphore(16)
        leave = asyncio.Event()

        async def one() -> None:
            async with places.taken():
                await leave.wait()

        tasks = [asyncio.create_task(one()) for _ in range(taken)]
        await asyncio.sleep(0)
        assert places.ease(0)
        assert not places.ease(0), "it began before the cut"
        leave.set()
        await asyncio.gather(*tasks)
        return places.limit

    assert asyncio.run(scene()) == taken * 3 // 4


def test_slowness_alone_leaves_two_places() -> None:
    places = AdaptiveSemaphore(8)
    for seen in range(20):
        places.ease(seen)

    assert places.limit == 2


def test_answers_are_compared_with_the_best_of_their_own_kind() -> None:
    latency = Latency()

    assert not any(latency.is_rising("total", 0.1) or latency.is_rising("page", 1.0) for _ in range(50))
    assert [latency.is_rising("total", 1.0) for _ in range(2)] == [True, True]
    assert not latency.is_rising("page", 1.1)


def test_a_platform_that_is_slower_for_good_is_not_held_to_its_best_for_ever() -> None:
    latency = Latency()
    latency.is_rising("page", 0.1)

    verdicts = [latency.is_rising("page", 0.3) for _ in range(800)]

    assert verdicts[10]
    assert not verdicts[-1]
