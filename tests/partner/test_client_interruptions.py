"""Temporary failures are repeated, permanent failures are raised at once.

A platform keeps vetl waiting for as long as the policy allows, and no longer; a quota may take its time.
"""

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest
from support.scripted_server import (
    PRACTICE,
    HeldTime,
    ReceivedRequest,
    Reply,
    Stage,
    one,
    reply_data,
    reply_error,
    reply_json,
    reply_page,
    until,
)
from vetl.core.errors import (
    Failing,
    RateLimited,
    RequestRefused,
    TooLarge,
    TooSlow,
    Transient,
    Unreachable,
)
from vetl.core.pages import Page
from vetl.partner import wire
from vetl.partner.client import Limits, PartnerClient
from vetl.partner.limits import ConcurrencyLimit, RateLimiter
from vetl.partner.protocol import LARGEST_JSON
from vetl.partner.retries import RetryPolicy

WHOLE = reply_page([{"id": "1"}])
POLICY = RetryPolicy()


@pytest.mark.parametrize(
    "torn",
    [
        *(reply_error(status) for status in (408, 425, 500, 502, 503, 504, 599)),
        Reply(body=WHOLE.body, cut=40),
        Reply(body=b"", cut=0),
        Reply(body=WHOLE.body[:-9]),
        Reply(body=b"<html>Log in</html>"),
        Reply(body=b""),
        Reply(body=b"null"),
        Reply(status=205),
        Reply(status=302, headers={"Location": "https://elsewhere.example/login"}),
        Reply(body=WHOLE.body, headers={"Content-Encoding": "gzip"}),
        reply_json({"success": False, "data": None, "message": "busy"}),
        reply_data(None),
    ],
    ids=lambda reply: f"{reply.status} {reply.body[:30]!r} cut={reply.cut}",
)
def test_temporary_failures_are_repeated(stage: Stage, torn: Reply) -> None:
    stage.server.answers(torn, torn, WHOLE)

    page = stage.play(one)

    assert (page.rows, page.requests) == (({"id": "1"},), 3)
    assert stage.time.slept == [0.5, 1]


def test_waits_grow_and_end_with_the_attempts(stage: Stage) -> None:
    stage.server.answers(reply_error(503, "down for maintenance"))

    with pytest.raises(Unreachable) as caught:
        stage.play(one)

    assert str(caught.value) == (
        "GET staff_tasks for practice loc-001: 503 Service Unavailable: down for maintenance (6 attempts)"
    )
    assert stage.time.slept == [0.5, 1, 2, 4, 8]
    assert len(stage.server.asked) == 6


@pytest.mark.parametrize(("asked", "waited"), [("7", 7), ("Sat, 21 Nov 2026 10:00:30 GMT", 30)])
def test_retry_after_of_a_429_is_heeded_by_all_of_the_practice(stage: Stage, asked: str, waited: float) -> None:
    started: list[float] = []

    def handler(_: ReceivedRequest) -> Reply:
        started.append(stage.time.seconds)
        return reply_error(429, Retry_After=asked) if len(started) == 1 else WHOLE

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> None:
        await client.sign_in()
        first = asyncio.create_task(one(client))
        await until(lambda: stage.time.slept)
        await asyncio.gather(*(one(client) for _ in range(3)), first)

    stage.play(scene)

    assert len(started) == 5
    assert all(moment >= 1000 + waited for moment in started[1:])


def test_a_quota_per_minute_without_retry_after_is_waited_out(stage: Stage) -> None:
    """Every request of the minute has been used up: the pauses must add up to more than a minute."""
    stage.server.handler = lambda _: WHOLE if stage.time.seconds > 1060 else reply_error(429)

    async def scene(client: PartnerClient) -> list[Page]:
        return await asyncio.gather(*(one(client) for _ in range(20)))

    assert len(stage.play(scene)) == 20


@pytest.mark.parametrize("sharing", ["x-client-id", "authorization"])
def test_a_platform_that_takes_one_request_at_once_is_read_one_by_one(stage: Stage, sharing: str) -> None:
    """One of each practice, or one of all that have the same token; it does not say when to come back."""
    under_way: set[str] = set()
    refused = 0

    async def handler(asked: ReceivedRequest) -> Reply:
        nonlocal refused
        if (sharer := asked.headers[sharing]) in under_way:
            refused += 1
            return reply_error(429, "one request at a time")
        under_way.add(sharer)
        for _turn in range(20):
            await asyncio.sleep(0)
        under_way.remove(sharer)
        return WHOLE

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> None:
        names = [f"loc-{n % 2}" for n in range(180)]
        await asyncio.gather(*(client.page(name, "staff_tasks", {}) for name in names))

    stage.play(scene)

    assert refused < 30
    assert stage.time.seconds - 1000 < 20


def unlucky(stage: Stage, refusals: float) -> tuple[Page | BaseException, int]:
    """Return the result of a request that gets so many 429 while others succeed, and the number that it got."""
    got = 0

    def handler(asked: ReceivedRequest) -> Reply:
        nonlocal got
        if not asked.path.endswith("staff_tasks") or got >= refusals:
            return WHOLE
        got += 1
        return reply_error(429)

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> Page | BaseException:
        task = asyncio.create_task(one(client))
        while not task.done():
            await client.page("loc-001", "appointments", {})
        return (await asyncio.gather(task, return_exceptions=True))[0]

    return stage.play(scene), got


def test_a_429_while_other_requests_succeed_uses_up_no_attempt(stage: Stage) -> None:
    result, got = unlucky(stage, POLICY.rate_limited_attempts + 8)

    assert isinstance(result, Page)
    assert got == POLICY.rate_limited_attempts + 8


def test_a_request_that_is_refused_for_ever_while_others_succeed_ends_with_its_budget(stage: Stage) -> None:
    result, got = unlucky(stage, float("inf"))

    assert isinstance(result, RateLimited)
    assert "partner.max_wait_seconds leaves 0 s of waiting" in str(result)
    assert got <= POLICY.max_wait + 1


def test_no_more_than_the_limit_are_in_flight_per_practice_and_in_all(stage: Stage) -> None:
    async def handler(_: ReceivedRequest) -> Reply:
        for _turn in range(20):
            await asyncio.sleep(0)
        return WHOLE

    stage.server.handler = handler
    limits = Limits(max_in_flight=3, max_in_flight_total=5)

    async def scene(client: PartnerClient, practices: int) -> None:
        names = [f"loc-{n % practices}" for n in range(40)]
        await asyncio.gather(*(client.page(name, "staff_tasks", {}) for name in names))

    stage.play(lambda client: scene(client, 1), limits)
    assert stage.server.most_in_flight == 3
    stage.server.most_in_flight = 0
    stage.play(lambda client: scene(client, 4), limits)
    assert stage.server.most_in_flight == 5


def test_a_refusal_is_not_repeated_and_carries_every_field(stage: Stage) -> None:
    errors: list[dict[str, str | None]] = [{"field": f"card.buttons.{n}", "message": "is wrong"} for n in range(7)]
    errors.append({"field": None, "message": "outside hours"})
    body = {"success": False, "message": "first", "data": {"message": "first", "errors": errors}}
    stage.server.answers(reply_json(body, 400))

    with pytest.raises(RequestRefused) as caught:
        stage.play(one)

    assert caught.value.status == 400
    wrong = [(f"card.buttons.{n}", "is wrong") for n in range(7)]
    assert caught.value.fields == (*wrong, (None, "outside hours"))
    assert str(caught.value).endswith("card.buttons.4: is wrong; and 3 more")
    assert len(stage.server.asked) == 1


@pytest.mark.parametrize("status", [301, 400, 402, 405, 413, 422, 451])
def test_other_refusals_are_final(stage: Stage, status: int) -> None:
    stage.server.answers(Reply(status, b"plainly no"))
    with pytest.raises(RequestRefused) as caught:
        stage.play(one)
    assert caught.value.status == status
    assert len(stage.server.asked) == 1


def test_a_server_that_does_not_answer_in_time_is_asked_again(stage: Stage) -> None:
    stage.server.answers(Reply(hang=True), WHOLE)
    assert stage.play(one, Limits(timeout_seconds=1)).requests > 1

    stage.server.answers(Reply(hang=True))
    with pytest.raises(TooSlow):
        stage.play(one, Limits(timeout_seconds=1), RetryPolicy(attempts=1))


def test_an_answer_that_is_too_slow_is_hardly_asked_for_again_if_less_can_be_asked_for(stage: Stage) -> None:
    """Behind a gateway each attempt may wait for a minute."""
    stage.server.answers(reply_error(504))

    with pytest.raises(TooSlow):
        stage.play(lambda client: client.page(PRACTICE, "booking_sessions", {}, divisible=True))

    assert len(stage.server.asked) == 2


def test_a_list_on_which_the_platform_fails_is_hardly_asked_for_again_in_parts(stage: Stage) -> None:
    """It fails on one record. Its parts are asked for to find the record; a failing day by itself is left out."""
    stage.server.handler = lambda asked: WHOLE if ("day", "2") in asked.query else reply_error(500)

    async def scene(client: PartnerClient) -> list[int]:
        attempts: list[int] = []
        for day, divisible in (("1-9", True), ("1-5", True), ("2", True), ("1-3", True), ("1", False)):
            with suppress(Failing):
                await client.page(PRACTICE, "booking_sessions", {"day": day}, divisible=divisible)
            attempts.append(len(stage.server.asked) - sum(attempts))
        return attempts

    assert stage.play(scene) == [6, 6, 1, 2, 6]


def test_a_gzip_of_several_members_is_read_whole(stage: Stage) -> None:
    """RFC 1952 allows them; the bytes of no member are lost, and other bytes behind the last one do not matter."""
    members = [gzip.compress(WHOLE.body[at : at + 20]) for at in range(0, len(WHOLE.body), 20)]
    packed = b"".join(members)
    compressed = {"Content-Encoding": "gzip"}
    stage.server.answers(
        Reply(body=packed[:-9], headers=compressed), Reply(body=packed + b"\0", headers=compressed)
    )

    page = stage.play(one)

    assert (len(page.rows), page.total_count, page.requests) == (1, 1, 2)


def test_a_total_with_commas_is_read(stage: Stage) -> None:
    totals = ("1,234", "1234", 1234.0)
    pages = [{"page": 0, "per_page": 100, "total_count": total, "content": []} for total in totals]
    stage.server.answers(*map(reply_data, pages))

    async def scene(client: PartnerClient) -> list[int]:
        return [(await one(client)).total_count for _ in totals]

    assert stage.play(scene) == [1234, 1234, 1234]


def test_an_answer_that_is_too_large_is_not_requested_again(stage: Stage) -> None:
    stage.server.answers(Reply(body=b" " * (LARGEST_JSON + 1)), WHOLE)
    with pytest.raises(TooLarge, match="the answer is larger than 8 MiB"):
        stage.play(one)


def test_an_answer_that_drips_without_end_is_given_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PATIENCE", 0.02)
    stage.server.answers(Reply(hang=True))
    with pytest.raises(Unreachable, match="did not end in time"):
        stage.play(one, Limits(timeout_seconds=10), RetryPolicy(attempts=1))


LISTS = ("phone_calls", "booking_sessions", "appointments", "staff_tasks")


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
        async with asyncio.timeout(60):
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


def refuse(places: ConcurrencyLimit) -> None:
    with pytest.raises(RateLimited), places.request():
        raise RateLimited("429")


def succeed(places: ConcurrencyLimit, times: int) -> int:
    """Return the limit after so many requests one after the other."""
    for _request in range(times):
        with places.request():
            pass
    return places.limit


def test_the_number_that_was_refused_is_tried_again_after_a_hundred_successes() -> None:
    places = ConcurrencyLimit(8, "loc-001")
    with places.request(), places.request(), places.request():
        refuse(places)  # the fourth
        assert places.limit == 2

    assert succeed(places, 98) == 3
    assert succeed(places, 1) == 4
    assert succeed(places, 99) == 4


def test_a_429_to_a_request_that_was_alone_is_no_sign_of_too_many_at_once() -> None:
    places = ConcurrencyLimit(8, "loc-001")
    with places.request():
        refuse(places)
    refuse(places)

    assert places.limit == 1
    assert succeed(places, 1 + 2 + 3 + 4 + 5 + 6 + 7) == 8


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
