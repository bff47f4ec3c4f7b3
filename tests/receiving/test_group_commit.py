"""Deliveries that arrive together share a commit."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from pipelines.core.errors import InboxError
from pipelines.partner.webhooks import Channel
from pipelines.receiving.group_commit import Full, GroupCommit
from pipelines.receiving.inbox import Entry

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)


def entry(number: int) -> Entry:
    return Entry(Channel.MESSAGES, "loc-001", str(number).encode(), NOW + timedelta(seconds=number))


class SlowInbox:
    """An inbox that holds its first commit until it is released."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.begun = threading.Event()
        self.go = threading.Event()

    def keep(self, entries: Sequence[Entry]) -> list[bool]:
        self.batches.append(len(entries))
        self.begun.set()
        assert self.go.wait(10)
        return [True] * len(entries)

    def probe(self) -> None:
        assert self.go.wait(10)


def test_deliveries_that_arrive_during_a_commit_share_the_next_one() -> None:
    inbox = SlowInbox()

    async def scenario() -> None:
        writer = GroupCommit(inbox)
        first = asyncio.create_task(writer.keep(entry(0)))
        await asyncio.to_thread(inbox.begun.wait, 10)
        others = [asyncio.create_task(writer.keep(entry(number))) for number in range(1, 50)]
        await asyncio.sleep(0)
        assert not first.done()
        inbox.go.set()
        assert all(await asyncio.gather(first, *others))
        await writer.close()

    asyncio.run(scenario())
    assert inbox.batches == [1, 49]


def test_more_than_can_wait_is_refused_at_once() -> None:
    inbox = SlowInbox()

    async def scenario() -> None:
        writer = GroupCommit(inbox, capacity=1)
        first = asyncio.create_task(writer.keep(entry(0)))
        await asyncio.to_thread(inbox.begun.wait, 10)
        second = asyncio.create_task(writer.keep(entry(1)))
        await asyncio.sleep(0)
        with pytest.raises(Full):
            await writer.keep(entry(2))
        inbox.go.set()
        await asyncio.gather(first, second)
        await writer.close()

    asyncio.run(scenario())


def test_an_unforeseen_failure_of_the_inbox_is_reported_at_once() -> None:
    class Broken(SlowInbox):
        def keep(self, entries: Sequence[Entry]) -> list[bool]:
            raise MemoryError(len(entries))

    async def scenario() -> None:
        writer = GroupCommit(Broken())
        with pytest.raises(InboxError, match="MemoryError"):
            await asyncio.wait_for(writer.keep(entry(0)), 5)
        await writer.close()

    asyncio.run(scenario())
