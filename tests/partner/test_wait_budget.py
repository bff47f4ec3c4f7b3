"""Retry-After keeps a client waiting for a quarter of an hour in all, not for hours; a quota may take its time."""

import asyncio

import pytest
from support.scripted_server import Asked, Reply, Stage, reply_error, reply_page

from pipelines.core.errors import RateLimited, Transient, Unreachable
from pipelines.core.pages import Page
from pipelines.partner.client import PartnerClient

LISTS = ("phone_calls", "booking_sessions", "appointments", "staff_tasks")


async def everything(client: PartnerClient) -> list[Page | BaseException]:
    asked = (client.page(f"loc-{number}", path, {}) for number in range(10) for path in LISTS)
    return await asyncio.gather(*asked, return_exceptions=True)


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimited), (503, Unreachable)])
@pytest.mark.parametrize("asked", ["60", "600", "86400"])
def test_a_platform_that_only_asks_to_wait_costs_a_quarter_of_an_hour(
    stage: Stage, status: int, kind: type[Transient], asked: str
) -> None:
    stage.server.answers(reply_error(status, Retry_After=asked))

    results = stage.play(everything)

    assert all(isinstance(result, kind) for result in results)
    assert any("waited 15 minutes for the platform in all" in str(result) for result in results)
    assert stage.time.seconds - 1000 <= 900 + 60
    entries = [log for log in stage.logs if log["event"] == "platform_asks_to_wait"]
    assert entries[0]["log_level"] == "warning"


def test_a_quota_that_is_used_up_each_minute_is_waited_for_as_often_as_it_takes(stage: Stage) -> None:
    used: dict[int, int] = {}

    def handler(_: Asked) -> Reply:
        minute = int(stage.time.seconds // 60)
        used[minute] = used.get(minute, 0) + 1
        return reply_page([]) if used[minute] <= 20 else reply_error(429, Retry_After="60")

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> None:
        for number in range(600):
            await client.page("loc-001", "staff_tasks", {"page": str(number)})

    stage.play(scene)

    assert stage.time.seconds - 1000 >= 29 * 60
