"""A platform keeps vetl waiting for as long as the policy allows, and no longer; a quota may take its time.

The number of requests at once, and the time between them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from support.scripted_server import HeldTime, ReceivedRequest, Reply, Stage, one, reply_error, reply_page
from vetl.core.errors import RateLimited, Transient, Unreachable
from vetl.core.pages import Page
from vetl.partner.client import PartnerClient
from vetl.partner.limits import RateLimiter, RetryPolicy

LISTS = ("phone_calls", "booking_sessions", "appointments", "staff_tasks")
POLICY = RetryPolicy()


async def everything(client: PartnerClient) -> list[Page | BaseException]:
    """Read four lists of ten practices side by side."""
    asked = (client.page(f"loc-{number}", path, {}) for number in range(10) for path in LISTS)
    return await asyncio.gather(*asked, return_exceptions=True)


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimited), (503, Unreachable)])
@pytest.mark.parametrize("asked", ["1", "300"])
def test_a_platform_that_asks_to_wait_again_and_again_costs_the_budget_and_no_more(
    stage: Stage, status: int, kind: type[Transient], asked: str
) -> None:
    stage.server.answers(reply_error(status, Retry_After=asked))

    results = stage.play(everything)

    assert all(isinstance(result, kind) for result in results)
    assert stage.time.seconds - 1000 <= 4 * POLICY.max_wait


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("asked", ["301", "7200", "9" * 400, "Sat, 21 Nov 2126 12:00:00 GMT"])
def test_a_wait_that_the_budget_does_not_allow_is_not_begun(stage: Stage, status: int, asked: str) -> None:
    """The error names the setting, and when it makes sense to go on."""
    stage.server.answers(reply_error(status, Retry_After=asked))

    results = stage.play(everything)

    assert stage.time.slept == []
    assert all("partner.max_wait_seconds leaves 300 s of waiting; run again " in str(result) for result in results)
    assert len({len(str(result).splitlines()) for result in results}) == 1
    if asked == "7200":
        assert "run again after 2026-11-21 11:57 UTC" in str(results[0])


def test_a_run_sends_nothing_more_when_its_time_is_used_up(stage: Stage) -> None:
    """Each answer is whole and takes just less than `timeout_seconds`."""

    async def drip(_: ReceivedRequest) -> Reply:
        await stage.time.sleep(29)
        return reply_page([])

    stage.server.handler = drip

    async def scene(client: PartnerClient) -> str:
        for _ in range(1000):
            try:
                await one(client)
            except Unreachable as error:
                return str(error)
        return "read to the end"

    error = stage.play(scene, policy=RetryPolicy(max_run=600))

    assert 600 <= stage.time.seconds - 1000 < 630
    assert error == (
        "GET staff_tasks for practice loc-001: not sent, the run took longer than partner.max_run_seconds;"
        " the next run goes on"
    )


def test_a_pause_beyond_the_time_of_the_run_is_not_begun(stage: Stage) -> None:
    stage.server.answers(reply_error(503, Retry_After="200"))

    with pytest.raises(Unreachable, match=r"partner\.max_run_seconds leaves 100 s of waiting; run again after "):
        stage.play(one, policy=RetryPolicy(max_run=100))

    assert stage.time.slept == []


def test_a_quota_that_is_used_up_each_minute_is_waited_for_as_often_as_it_takes(stage: Stage) -> None:
    used: dict[int, int] = {}

    def handler(_: ReceivedRequest) -> Reply:
        minute = int(stage.time.seconds // 60)
        used[minute] = used.get(minute, 0) + 1
        return reply_page([]) if used[minute] <= 20 else reply_error(429, Retry_After="60")

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> None:
        for number in range(600):
            await client.page("loc-001", "staff_tasks", {"page": str(number)})

    stage.play(scene)

    assert stage.time.seconds - 1000 >= 29 * 60


Scene = Callable[[RateLimiter, HeldTime], Coroutine[Any, Any, None]]


def play(scene: Scene, *, ceiling: int = 8, per_minute: int | None = None) -> None:
    async def run() -> None:
        time = HeldTime()
        async with asyncio.timeout(10):
            await scene(RateLimiter("loc-001", ceiling, per_minute, time.timing), time)

    asyncio.run(run())


async def passed(limiter: RateLimiter, work: Callable[[], Awaitable[object]] | None = None) -> None:
    async with limiter.passing():
        if work is not None:
            await work()


async def fails(limiter: RateLimiter, error: Transient) -> None:
    with pytest.raises(type(error)):
        async with limiter.passing():
            raise error


def test_no_answer_or_a_429_halves_and_each_round_that_goes_well_adds_one() -> None:
    """No answer halves as a 429 does, without a pause; one request always gets in."""

    async def scene(limiter: RateLimiter, time: HeldTime) -> None:
        await fails(limiter, Unreachable("no answer"))
        assert (limiter.limit, time.slept) == (4, [])
        for _round in range(5):
            await passed(limiter)
        assert limiter.limit == 5
        for _round in range(40):
            await passed(limiter)
        assert limiter.limit == 8
        for _round in range(10):
            await fails(limiter, RateLimited("429"))
        assert limiter.limit == 1
        await passed(limiter)

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


def test_a_pause_is_made_by_all_requests_of_the_practice() -> None:
    async def scene(limiter: RateLimiter, time: HeldTime) -> None:
        limiter.pause(7)
        limiter.pause(3)
        await asyncio.gather(*(passed(limiter) for _ in range(3)))
        assert time.seconds == 1007

    play(scene)


def test_a_quota_per_minute_has_no_burst() -> None:
    async def scene(limiter: RateLimiter, time: HeldTime) -> None:
        started: list[float] = []

        async def note() -> None:
            started.append(time.seconds)

        await asyncio.gather(*(passed(limiter, note) for _ in range(5)))
        assert started == [1000.0, 1000.5, 1001.0, 1001.5, 1002.0]

    play(scene, per_minute=120)
