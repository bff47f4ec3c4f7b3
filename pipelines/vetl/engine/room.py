"""The memory that the lists of a sync share: a platform with large answers is read slowly, not in much memory."""

import asyncio
import math
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from vetl.core.errors import NoRoom

MOST_IN_MEMORY = 96 * 1024 * 1024
"""The most bytes of answers in memory, over all lists and practices of a sync: answers that are being received,
pages that strategies hold, and rows that wait to be written. Beyond them one list at a time reads, until its rows
are written, and its large answers come one after another."""

LARGE = 1024 * 1024
"""Bytes of an answer that is large. A usual page takes 0.3 MB."""

HUGE = 4 * LARGE
"""Bytes that no usual answer has: a page of 5,000 calls takes 1.3 MB."""

MOST_BESIDE_HUGE = 16 * 1024 * 1024
"""The most bytes of answers in memory, with its own, while an answer is huge. Rows of huge answers take several
times their bytes, and many lists that hold such a page take the memory that the list which reads needs."""

A = TypeVar("A")


class Room:
    """The bytes of answers in memory. `unwritten`: those of rows that wait to be written; `in_use`: all others."""

    def __init__(self) -> None:
        self.in_use = 0
        self.unwritten = 0
        self.owner: ListRoom | None = None
        """The list that may read while there is no room for all lists."""
        self.left = asyncio.Condition()
        self.alone = asyncio.Lock()

    @property
    def is_full(self) -> bool:
        """Return whether one list at a time must read."""
        return self.in_use + self.unwritten >= MOST_IN_MEMORY

    def has_room_for(self, size: int) -> bool:
        """Return whether an answer of this size, which is counted already, may be read beside those of others."""
        is_beside = size <= HUGE or self.in_use + self.unwritten < MOST_BESIDE_HUGE
        return is_beside and not self.is_full


class ListRoom:
    """The part of one list in the room of all lists."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.in_use = 0
        self._reads = 0
        """Reads of this list while it is the only one that may read."""

    async def read(self, ask: Callable[..., Awaitable[A]], write: Callable[[], Awaitable[None]]) -> A:
        """Return the answer of `ask`, whose bytes count for as long as the answer exists.

        An answer that finds no room is requested again when this list may read, a large one when it reads alone
        and `write` has written its waiting rows.
        """
        room = self._room
        if not room.is_full:
            with suppress(NoRoom):
                return await self._counted(ask, 0)
        async with room.left:
            await room.left.wait_for(lambda: room.owner in (None, self))
            room.owner = self
        self._reads += 1
        try:
            with suppress(NoRoom):
                return await self._counted(ask, LARGE)
            async with room.alone:
                await write()
                return await self._counted(ask, math.inf)
        finally:
            self._reads -= 1

    async def leave(self, *, has_ended: bool = False) -> None:
        """Let the other lists read, if the rows that this list has read are written, or if it has ended."""
        is_done = self._reads == 0 and self.in_use < LARGE
        if self._room.owner is self and (has_ended or is_done):
            async with self._room.left:
                self._room.owner = None
                self._room.left.notify_all()

    @property
    def must_write(self) -> bool:
        """Return whether waiting rows must be written at once: they take half of the room, or it is full."""
        return self._room.unwritten >= MOST_IN_MEMORY // 2 or self._room.is_full

    def waits(self, size: int) -> None:
        """Count bytes whose rows wait to be written; less than 0 when they are written."""
        self._room.unwritten += size

    def holds(self, size: int) -> None:
        """Count bytes of an answer; less than 0 when it is dropped."""
        self.in_use += size
        self._room.in_use += size

    async def _counted(self, ask: Callable[..., Awaitable[A]], most: float) -> A:
        share = _Share(self._room, self, most)
        try:
            answer = await ask(take=share.take)
        except BaseException:
            share.give_back()
            raise
        weakref.finalize(answer, share.give_back).atexit = False
        return answer


class _Share:
    """The bytes of one answer, which may have `most` bytes while there is no room for all lists."""

    def __init__(self, room: Room, list_room: ListRoom, most: float) -> None:
        self._room, self._list_room, self._most = room, list_room, most
        self._size = 0

    def take(self, size: int) -> None:
        """Count bytes of the answer.

        Raises:
            NoRoom: too many answers are in memory.
        """
        self._size += size
        self._list_room.holds(size)
        if self._size > self._most and not self._room.has_room_for(self._size):
            raise NoRoom("too many answers are in memory")

    def give_back(self) -> None:
        """Count the bytes no longer."""
        self._list_room.holds(-self._size)
        self._size = 0
