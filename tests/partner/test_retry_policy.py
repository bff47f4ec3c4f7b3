"""A platform keeps vetl waiting for as long as the policy allows, and no longer; a quota may take its time.

The number of requests at once, and the time between them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted_server import (
    PRACTICE,
    HeldTime,
    ReceivedRequest,
    Reply,
    Stage,
    one,
    reply_data,
    reply_error,
    reply_page,
)
from vetl.core.errors import RateLimited, Transient, Unreachable
from vetl.core.pages import Page
from vetl.partner.client import Limits, PartnerClient
from vetl.partner.limits import RateLimiter
from vetl.partner.protocol import Request
from vetl.partner.retry_policy import RetryPolicy, WaitBudget

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
    assert stage.time.seconds - 1000 <= POLICY.max_wait_total


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


def test_an_answer_that_drips_costs_the_budget_too(stage: Stage) -> None:
    """Each attempt ends after as long as is left, and the request after the last of it."""

    async def drip(_: ReceivedRequest) -> Reply:
        await stage.time.sleep(90)
        return Reply(hang=True)

    stage.server.handler = drip

    async def scene(client: PartnerClient) -> None:
        for _ in range(3):
            with pytest.raises(Unreachable):
                await one(client)

    stage.play(scene, Limits(timeout_seconds=0.05), replace(POLICY, max_wait=200))

    assert len(stage.server.asked) == 3 + 1 + 1


def test_slow_answers_that_end_in_time_cost_the_budget_too(stage: Stage) -> None:
    """A server may take just less than `timeout_seconds` for each answer, and each of them is whole."""

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

    error = stage.play(scene)

    assert POLICY.max_wait < stage.time.seconds - 1000 < POLICY.max_wait * 2
    assert "the answer was too slow" in error
    assert "partner.max_wait_seconds leaves 0 s of waiting; run again after " in error


def test_large_answers_may_take_their_time_and_changes_are_never_in_doubt_for_it(stage: Stage) -> None:
    size = 280_000

    async def slow(asked: ReceivedRequest) -> Reply:
        await stage.time.sleep(29)
        is_list = asked.method == "GET"
        return reply_page([{"id": "1", "notes": "x" * size}]) if is_list else reply_data({"id": "1"})

    stage.server.handler = slow
    target = "/services/core/open_api/v1/staff_tasks"
    request = Request("staff_tasks", target, "staff_tasks", body=b"{}", method="POST", repeatable=False)

    async def scene(client: PartnerClient) -> list[str]:
        for _ in range(30):
            await one(client)
        return [await client.write(PRACTICE, request, lambda _, row: str(row["id"])) for _ in range(30)]

    assert stage.play(scene) == ["1"] * 30


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


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 400), st.floats(0, 100)), max_size=30))
def test_pauses_that_overlap_count_once_and_asking_spends_nothing(waits: list[tuple[str, float, float]]) -> None:
    """Against a plain model: all seconds that are covered by a pause that was allowed."""
    time = HeldTime()
    budget = WaitBudget(POLICY, time.timing)
    until = {"a": 0.0, "b": 0.0, "all": 0.0}
    spent = dict.fromkeys(until, 0.0)
    for who, pause, later in waits:
        left = budget.left(who)
        allowed = budget.allows(who, pause)
        assert budget.left(who) == left
        if allowed:
            budget.spend(who, pause)
            for name in (who, "all"):
                spent[name] += max(0.0, time.seconds + pause - max(time.seconds, until[name]))
                until[name] = max(until[name], time.seconds + pause)
        assert spent[who] <= POLICY.max_wait + 1e-6
        assert spent["all"] <= POLICY.max_wait_total + 1e-6
        expected = min(POLICY.max_wait - spent[who], POLICY.max_wait_total - spent["all"])
        assert budget.left(who) == pytest.approx(max(0.0, expected), abs=1e-6)
        time.seconds += later


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


def test_pauses_without_retry_after_grow_until_something_goes_well() -> None:
    async def scene(limiter: RateLimiter, time: HeldTime) -> None:
        for _round in range(4):
            await fails(limiter, RateLimited("429"))
        await passed(limiter)
        await fails(limiter, RateLimited("429"))
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
