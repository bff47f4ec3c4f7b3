"""The number of requests at once, and the time between them."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from support.scripted_server import HeldTime

from pipelines.core.errors import RateLimited, Unreachable
from pipelines.partner.limits import RateLimiter
from pipelines.partner.retry_policy import RetryPolicy, WaitBudget

Scene = Callable[[RateLimiter, HeldTime], Coroutine[Any, Any, None]]


def play(scene: Scene, *, ceiling: int = 8, per_minute: int | None = None) -> None:
    async def run() -> None:
        time = HeldTime()
        async with asyncio.timeout(10):
            await scene(RateLimiter("loc-001", ceiling, per_minute, WaitBudget(RetryPolicy(), time.timing)), time)

    asyncio.run(run())


async def passed(limiter: RateLimiter, work: Callable[[], Awaitable[object]] | None = None) -> None:
    async with limiter.passing():
        if work is not None:
            await work()


async def limited(limiter: RateLimiter, retry_after: float | None = None) -> None:
    with pytest.raises(RateLimited):
        async with limiter.passing():
            raise RateLimited("429", retry_after=retry_after)


def test_a_429_halves_and_each_round_that_goes_well_adds_one() -> None:
    """One always gets in."""

    async def scene(limiter: RateLimiter, _: HeldTime) -> None:
        await limited(limiter)
        assert limiter.limit == 4
        for _round in range(5):
            await passed(limiter)
        assert limiter.limit == 5
        for _round in range(40):
            await passed(limiter)
        assert limiter.limit == 8
        for _round in range(10):
            await limited(limiter)
        assert limiter.limit == 1
        await passed(limiter)

    play(scene)


def test_no_answer_halves_as_a_429_does() -> None:
    async def scene(limiter: RateLimiter, time: HeldTime) -> None:
        with pytest.raises(Unreachable):
            async with limiter.passing():
                raise Unreachable("no answer")
        assert limiter.limit == 4
        assert time.slept == []

    play(scene)


def test_requests_that_were_on_their_way_together_halve_once() -> None:
    async def scene(limiter: RateLimiter, _: HeldTime) -> None:
        inside = asyncio.Barrier(8)

        async def refused() -> None:
            async with limiter.passing():
                await inside.wait()
                raise RateLimited("429")

        results = await asyncio.gather(*(refused() for _ in range(8)), return_exceptions=True)
        assert all(isinstance(result, RateLimited) for result in results)
        assert limiter.limit == 4

    play(scene)


def test_pauses_without_retry_after_grow_until_something_goes_well() -> None:
    async def scene(limiter: RateLimiter, time: HeldTime) -> None:
        for _round in range(4):
            await limited(limiter)
        await passed(limiter)
        await limited(limiter)
        await passed(limiter)
        assert time.slept == [1, 2, 4, 8, 1]

    play(scene)


def test_a_quota_per_minute_has_no_burst() -> None:
    async def scene(limiter: RateLimiter, time: HeldTime) -> None:
        started: list[float] = []

        async def note() -> None:
            started.append(time.seconds)

        await asyncio.gather(*(passed(limiter, note) for _ in range(5)))
        assert started == [1000.0, 1000.5, 1001.0, 1001.5, 1002.0]

    play(scene, per_minute=120)


@pytest.mark.parametrize("steps_before_the_end", range(6))
def test_a_waiter_that_gives_up_leaves_no_place_taken(steps_before_the_end: int) -> None:
    """This holds at any moment: before its turn, just as it gets the place, or inside."""

    async def scene(limiter: RateLimiter, _: HeldTime) -> None:
        leave = asyncio.Event()
        holder = asyncio.create_task(passed(limiter, leave.wait))
        await asyncio.sleep(0)
        quitter = asyncio.create_task(passed(limiter, asyncio.Event().wait))
        follower = asyncio.create_task(passed(limiter))
        await asyncio.sleep(0)
        leave.set()
        for _step in range(steps_before_the_end):
            await asyncio.sleep(0)
        quitter.cancel()
        await asyncio.gather(holder, follower)
        await passed(limiter)

    play(scene, ceiling=1)
