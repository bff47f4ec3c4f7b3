"""Running coroutines concurrently, and looking rows up by their ids."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from vetl.core.errors import ContractBroken, RequestRefused, TornAnswer, Unreachable, VetlError
from vetl.core.pages import Row

A = TypeVar("A")

AT_ONCE = 16
"""Ids of a list that are looked up concurrently. The client limits the requests in flight by itself."""

UNKNOWN_ID = (400, 404, 410, 422)
"""Statuses with which a server may answer a request for an unknown id. The contract does not show which one."""
ONE_ID_ALONE = (Unreachable, TornAnswer, ContractBroken, RequestRefused)
"""Errors that may be about a single id: a platform may fail on one broken record each time."""
SOME_FAILURES = 3
"""So many ids of one step may fail, and one more for each ten answers. If more do, the platform fails."""


async def gather(coroutines: Iterable[Coroutine[Any, Any, A]]) -> list[A]:
    """Run all coroutines concurrently and return their results in order.

    The first failure cancels the other coroutines and is raised without its group.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as failures:
        raise _first(failures) from None
    return [task.result() for task in tasks]


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    failure = failures.exceptions[0]
    return _first(failure) if isinstance(failure, BaseExceptionGroup) else failure


async def rows_by_id(
    ids: Sequence[str], look_up: Callable[[str], Awaitable[Row | None]]
) -> dict[str, Row | VetlError | None]:
    """Return the answer for each id: its row, `None` if there is no such row, or the error of its request.

    If too many requests fail, the other ids are not requested and have no answer.
    """
    turn = asyncio.Semaphore(AT_ONCE)
    answers: dict[str, Row | VetlError | None] = {}
    failures = 0

    async def get(identity: str) -> None:
        nonlocal failures
        async with turn:
            if failures > SOME_FAILURES + (len(answers) - failures) // 10:
                return
            try:
                answers[identity] = await look_up(identity)
            except ONE_ID_ALONE as error:
                unknown = isinstance(error, RequestRefused) and error.status in UNKNOWN_ID
                failures += not unknown
                answers[identity] = None if unknown else error

    await gather(get(identity) for identity in ids)
    return answers
