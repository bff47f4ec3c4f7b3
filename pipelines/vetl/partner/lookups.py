"""Look up rows by id, several at a time: a platform may fail on one id, forbid one, or answer a stray 404."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

from vetl.core import errors
from vetl.core.pages import Row

T = TypeVar("T")

AT_ONCE = 16
"""Ids of a list that are looked up concurrently. The client limits the requests in flight by itself."""

UNKNOWN_ID = (400, 404, 410, 422)
"""Statuses with which a server may answer a request for an unknown id. The contract does not show which one."""
REST_OF_WITHHELD = 1.0
"""Seconds before another request for the ids whose answer was withheld twice."""
ONE_ID_ALONE = (
    errors.Unreachable, errors.TornAnswer, errors.ContractBroken, errors.RequestRefused, errors.PracticeRefused,
)  # fmt: skip
"""Errors that may be about a single id: a platform may fail on one broken record each time, or forbid one."""
SOME_FAILURES = 3
"""So many ids may fail in a row. If more do, a reader has to find out whether the platform fails."""

Answers = dict[str, Row | errors.VetlError | None]
"""The answer for each id: its row, `None` if there is no such row, or the error of its request."""


class Get(Protocol):
    """One request, such as `PartnerClient.record`."""

    def __call__(self, record_id: str, *, final: tuple[type[errors.VetlError], ...]) -> Awaitable[Row | None]:
        """Return a row by its id, `None` if there is none; raise errors of the types `final` at once."""
        ...


class Lookup:
    """The lookup of some ids of one list.

    Ids without a row are requested again as long as some of them are found, because one stray 404 of a gateway
    must not delete a row. Ids whose answer is `Withheld` are requested again once, and then after each `renew`,
    which gets a new token, as long as some are answered otherwise; a reader has to find out what the rest means.
    If too many requests fail in a row, the other ids are not requested and have no answer. If a new token does not
    open a forbidden id, no further one is signed in for.
    """

    def __init__(self, get: Get, renew: Callable[[], Awaitable[object]]) -> None:
        self._get, self._renew = get, renew
        self._answers: Answers = {}
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._failures = 0
        self._final: tuple[type[errors.VetlError], ...] = (errors.Withheld,)

    async def look_up(self, ids: Sequence[str]) -> Answers:
        """Return the answer for each id."""
        await gather(self._ask(identity) for identity in ids)
        while await self._ask_again(type(None)):
            pass
        await self._ask_again(errors.Withheld)
        while self._of_kind(errors.Withheld):
            await self._renew()
            if not await self._ask_again(errors.Withheld):
                break
        return self._answers

    async def _ask(self, identity: str) -> None:
        async with self._turn:
            if self._failures > SOME_FAILURES:
                return
            try:
                row = await self._get(identity, final=self._final)
            except ONE_ID_ALONE as error:
                row = _about_one_id(error)
            if isinstance(row, errors.PracticeRefused):
                self._final = (errors.Withheld, errors.PracticeRefused)
            failed = isinstance(row, errors.VetlError) and not isinstance(row, errors.Withheld)
            self._failures = self._failures + 1 if failed else 0
            self._answers[identity] = row

    def _of_kind(self, kind: type) -> list[str]:
        return [identity for identity, row in self._answers.items() if isinstance(row, kind)]

    async def _ask_again(self, kind: type) -> bool:
        """Request the ids with answers of this kind again, and return whether an answer of another kind came."""
        again = self._of_kind(kind)
        for identity in again:
            del self._answers[identity]
        await gather(self._ask(identity) for identity in again)
        return any(not isinstance(self._answers.get(identity), kind) for identity in again)


def _about_one_id(error: errors.VetlError) -> errors.VetlError | None:
    """Return the answer for an id from the error of its request; `None` if the platform does not have the id."""
    if isinstance(error, errors.PracticeRefused) and error.status != HTTPStatus.FORBIDDEN:
        raise error
    if isinstance(error, errors.RequestRefused) and error.status in UNKNOWN_ID:
        return None
    if isinstance(error, errors.RequestRefused) and error.status < HTTPStatus.BAD_REQUEST:
        return errors.Withheld(str(error))  # the record of one id may have moved, and not the platform
    return error


async def gather(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
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
