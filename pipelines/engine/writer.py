"""The one writer of a sync: what lists save or ask while a transaction is under way is done in the next turn."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from pipelines.core.endpoint import Endpoint
from pipelines.core.errors import WarehouseError
from pipelines.core.pages import Changes
from pipelines.core.steps import Question, Save
from pipelines.engine.protocols import Asked, Store, Work

T = TypeVar("T")
Item = TypeVar("Item", Work, Asked)
Waiting = list[tuple[Item, asyncio.Future[Any]]]
"""What is to be done for lists, and who waits for it."""


class Writer:
    """Takes turns for commits and questions, in a thread, so that pages go on arriving meanwhile.

    A transaction costs as much as some small statements, and each statement serves all lists of its turn.
    """

    def __init__(self, run_id: str, store: Store) -> None:
        self._run_id = run_id
        self._store = store
        self._turn = asyncio.Lock()
        self._saved: Waiting[Work] = []
        self._asked: Waiting[Asked] = []
        self._working: asyncio.Task[None] | None = None
        self._failures: dict[tuple[str, str], Exception] = {}
        """By practice and list: why its saves could not be stored. Later saves of that list are refused as well,
        because their cursor may already count the rows that are missing."""

    async def commit(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> Changes:
        """Returns once the saves of this list are committed, all of them in one transaction.

        Raises:
            Exception: this list's saves cannot be stored, or earlier ones could not; those of others are stored.
            WarehouseError: nothing can be stored.
        """
        return await self._done(self._saved, (practice_id, endpoint, saves))

    async def answer(self, practice_id: str, endpoint: Endpoint, question: Question) -> Any:  # noqa: ANN401
        """What the store answers about this list; it sees what is committed."""
        return await self._done(self._asked, (practice_id, endpoint, question))

    async def ask(self, question: Callable[..., T], *arguments: object) -> T:
        """What the store answers; it sees what is committed."""
        async with self._turn:
            return await asyncio.to_thread(question, *arguments)

    async def _done(self, waiting: Waiting[Item], item: Item) -> Any:  # noqa: ANN401
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        waiting.append((item, done))
        if self._working is None or self._working.done():
            # A task of its own: whoever waits for it may be cancelled, and others wait for it too.
            self._working = asyncio.create_task(self._work())
        return await done

    async def _work(self) -> None:
        while self._saved or self._asked:
            async with self._turn:
                saved, self._saved = self._saved, []
                await self._serve(saved, partial(self._store.commit_all, self._run_id))
                asked, self._asked = self._asked, []
                await self._serve(asked, self._store.answer_all)

    async def _serve(self, waiting: Waiting[Item], serve: Callable[[list[Item]], list[Any]]) -> None:
        waiting = [one for one in waiting if not self._has_failed(one)]
        if not waiting:
            return
        try:
            results = await asyncio.to_thread(serve, [item for item, _ in waiting])
        except Exception as error:  # noqa: BLE001 - whatever it was, nobody may wait for an answer in vain
            if len(waiting) > 1 and not isinstance(error, WarehouseError):
                for one in waiting:  # one list is at fault, and the others are served without it
                    await self._serve([one], serve)
                return
            for (practice_id, endpoint, _), done in waiting:
                self._failures[practice_id, endpoint.name] = error
                if not done.done():
                    done.set_exception(error)
        else:
            for (_, done), result in zip(waiting, results, strict=True):
                if not done.done():
                    done.set_result(result)

    def _has_failed(self, one: tuple[Work | Asked, asyncio.Future[Any]]) -> bool:
        """Whether the list failed before; then whoever waits gets the same error."""
        (practice_id, endpoint, _), done = one
        failure = self._failures.get((practice_id, endpoint.name))
        if failure is not None and not done.done():
            done.set_exception(failure)
        return failure is not None
