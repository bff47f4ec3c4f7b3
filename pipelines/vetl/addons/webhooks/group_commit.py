"""Many senders, one inbox: all deliveries that arrive during one commit go into the next one.

So one fsync serves many, and each is still acknowledged after its own commit.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from vetl.core.errors import InboxError
from vetl.receiving.inbox import Entry, Inbox

T = TypeVar("T")

AT_ONCE = 1_000
"""Most entries of one commit, so that the first entry of a burst does not wait for all others."""

CAPACITY = 10_000
"""Most entries that may wait for their commit; further senders are asked to send again later."""


CAPACITY_BYTES = 64 * 1_048_576
"""Most bytes of waiting bodies, needed if unsigned deliveries are accepted (`--accept-unsigned`)."""


class Full(Exception):
    """Too many deliveries wait for their commit."""


class GroupCommit:
    """The inbox for many concurrent callers on one event loop; one thread of its own writes the file."""

    def __init__(self, inbox: Inbox, *, capacity: int = CAPACITY) -> None:
        self._inbox = inbox
        self._capacity = capacity
        self._waiting: list[tuple[Entry, asyncio.Future[bool]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inbox")
        self._bytes = 0
        self.commits = 0

    @property
    def waiting(self) -> int:
        """Return the number of entries that wait for their commit."""
        return len(self._waiting)

    async def keep(self, entry: Entry) -> bool:
        """Return after the entry is on disk: true if it is new, false if it was stored before.

        Raise `Full` if too many entries wait; `InboxError` if the entry could not be written.
        """
        if len(self._waiting) >= self._capacity or self._bytes + len(entry.body) > CAPACITY_BYTES:
            raise Full
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, written))
        self._bytes += len(entry.body)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await written

    async def probe(self) -> None:
        """Test that the inbox can be written; raise `InboxError` if the inbox cannot be written."""
        await self._in_thread(self._inbox.probe)

    async def close(self) -> None:
        """Write the waiting entries, then stop."""
        if self._writer is not None:
            await self._writer
        self._thread.shutdown()

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            self._bytes = sum(len(entry.body) for entry, _ in self._waiting)
            entries = [entry for entry, _ in batch]
            try:
                news = await self._in_thread(lambda entries=entries: self._inbox.keep(entries))
            except Exception as error:  # noqa: BLE001 - every waiting sender needs an answer
                _answer(batch, error)
            else:
                self.commits += 1
                for (_, written), new in zip(batch, news, strict=True):
                    if not written.done():
                        written.set_result(new)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _answer(batch: Sequence[tuple[Entry, asyncio.Future[bool]]], error: Exception) -> None:
    for _, written in batch:
        if not written.done():
            written.set_exception(
                InboxError(str(error) if isinstance(error, InboxError) else type(error).__name__)
            )
