"""Look up rows by their ids, several at a time, within a limit on their memory."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from vetl.core.errors import ContractBroken, TornAnswer, Unreachable, VetlError
from vetl.core.pages import Row
from vetl.engine.gather import gather
from vetl.engine.protocols import Take

AT_ONCE = 16
"""Ids of a list that are looked up concurrently. The client limits the requests in flight by itself."""

MOST_BYTES = 16 * 1024 * 1024
"""Bytes of rows after which no further id of a step is looked up. 500 usual rows have 0.5 MB."""

ONE_ID_ALONE = (Unreachable, TornAnswer, ContractBroken)
"""Errors that may be about a single id: a platform may fail on one broken record each time."""

SOME_FAILURES = 3
"""So many ids of one step may fail, and one more for each ten answers. If more do, the platform fails."""

LookUp = Callable[[str, Take], Awaitable[Row | None]]
"""Return the row with this id; `Take` counts the memory of the answer."""


class RowsById(dict[str, Row | VetlError | None]):
    """Rows by id, whose memory counts for as long as this object exists."""

    __slots__ = ("__weakref__",)


async def records_by_id(ids: Sequence[str], look_up: LookUp, *, take: Take) -> RowsById:
    """Return the rows with these ids, or with the first of them if the rows are large.

    An id has `None` if there is no such row, and the error if its request failed while most others were answered.

    Raises:
        VetlError: too many requests failed.
    """
    turn = asyncio.Semaphore(AT_ONCE)
    size = answers = failures = 0

    def counted(more: int) -> None:
        nonlocal size
        size += more
        take(more)

    async def get(identity: str) -> RowsById:
        nonlocal answers, failures
        async with turn:
            if size > MOST_BYTES:
                return RowsById()
            try:
                row = await look_up(identity, counted)
            except ONE_ID_ALONE as error:
                failures += 1
                if failures > SOME_FAILURES + answers // 10:
                    raise
                return RowsById({identity: error})
            answers += 1
            return RowsById({identity: row})

    records = RowsById()
    for one in await gather(get(identity) for identity in ids):
        records |= one
    return records
