"""Group commit: what arrives while one commit is on its way to disk goes into the next, all of it at once.

One fsync then serves many deliveries, and each is still acknowledged only after its own.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from pipelines.core.errors import InboxError
from pipelines.receiving.inbox import Entry

T = TypeVar("T")

AT_ONCE = 1_000
"""Entries of one commit at most, so that a burst does not make the first of it wait for all."""

CAPACITY = 10_000
"""Entries that may wait for their commit; more than that and senders are asked to come back."""


CAPACITY_BYTES = 64 * 1_048_576
"""Of their bodies, for where anyone is believed (`--accept-unsigned`)."""


class Full(Exception):
    """Too many deliveries wait already."""


class Keeper(Protocol):
    """Where entries are kept: the inbox."""

    def keep(self, entries: Sequence[Entry]) -> list[bool]:
        """Keep all or none; on disk when it returns."""
        ...

    def probe(self) -> None:
        """Write something, as a delivery would."""
        ...


class GroupCommit:
    """The inbox, for many callers at once on one event loop; the file is written by one thread of its own."""

    def __init__(self, inbox: Keeper, *, capacity: int = CAPACITY) -> None:
        self._inbox = inbox
        self._capacity = capacity
        self._waiting: list[tuple[Entry, asyncio.Future[bool]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inbox")
        self._bytes = 0
        self.commits = 0

    @property
    def waiting(self) -> int:
        """How many entries wait for their commit."""
        return len(self._waiting)

    async def keep(self, entry: Entry) -> bool:
        """Returns once the entry is on disk. False: it was there already.

        Raises:
            Full: too many wait.
            InboxError: it could not be written.
        """
        if len(self._waiting) >= self._capacity or self._bytes + len(entry.body) > CAPACITY_BYTES:
            raise Full
        kept = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, kept))
        self._bytes += len(entry.body)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await kept

    async def probe(self) -> None:
        """Find out whether the inbox can be written.

        Raises:
            InboxError: it cannot.
        """
        await self._in_thread(self._inbox.probe)

    async def close(self) -> None:
        """Finish what waits, then stop."""
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
            except Exception as error:  # noqa: BLE001 - whatever it was, nobody may wait for an answer in vain
                _answer(batch, error)
            else:
                self.commits += 1
                for (_, kept), new in zip(batch, news, strict=True):
                    if not kept.done():
                        kept.set_result(new)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _answer(batch: Sequence[tuple[Entry, asyncio.Future[bool]]], error: Exception) -> None:
    for _, kept in batch:
        if not kept.done():
            kept.set_exception(InboxError(str(error) if isinstance(error, InboxError) else type(error).__name__))
