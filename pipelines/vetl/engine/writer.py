"""The only writer of a sync. Saves and questions that arrive during a transaction are handled in the next turn."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from vetl.core.endpoint import Endpoint
from vetl.core.errors import WarehouseError
from vetl.core.pages import Changes
from vetl.core.steps import Question, Save
from vetl.engine.protocols import ListQuestion, Store, Work

T = TypeVar("T")
Item = TypeVar("Item", Work, ListQuestion)
Waiting = list[tuple[Item, asyncio.Future[Any]]]
"""Saves or questions of lists, each with the future that its caller awaits."""


class Writer:
    """Commits saves and answers questions in a thread, so that pages can arrive at the same time.

    A transaction costs as much as a few small statements, and each statement serves all lists of its turn.
    """

    def __init__(self, run_id: str, store: Store) -> None:
        self._run_id = run_id
        self._store = store
        self._turn = asyncio.Lock()
        self._saved: Waiting[Work] = []
        self._questions: Waiting[ListQuestion] = []
        self._working: asyncio.Task[None] | None = None
        self._failures: dict[tuple[str, str], Exception] = {}
        """Errors of lists whose saves could not be stored, by practice and list. Later saves of such a list are
        refused, because their cursor may already count the missing rows."""

    async def commit(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> Changes:
        """Commit the saves of this list in one transaction and return the changes.

        Raises:
            Exception: saves of this list cannot be stored, these or earlier ones; those of other lists are stored.
        """
        return await self._done(self._saved, (practice_id, endpoint, saves))

    async def answer(self, practice_id: str, endpoint: Endpoint, question: Question) -> Any:  # noqa: ANN401
        """Return the answer of the store to a question about this list, from the committed data."""
        return await self._done(self._questions, (practice_id, endpoint, question))

    async def ask(self, question: Callable[..., T], *arguments: object) -> T:
        """Return the answer of the store, from the committed data."""
        async with self._turn:
            return await asyncio.to_thread(question, *arguments)

    async def _done(self, waiting: Waiting[Item], item: Item) -> Any:  # noqa: ANN401
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        waiting.append((item, done))
        if self._working is None or self._working.done():
            # A separate task: one caller may be cancelled while other callers still wait for the work.
            self._working = asyncio.create_task(self._work())
        return await done

    async def _work(self) -> None:
        while self._saved or self._questions:
            async with self._turn:
                saved, self._saved = self._saved, []
                await self._serve(saved, partial(self._store.commit_all, self._run_id))
                questions, self._questions = self._questions, []
                await self._serve(questions, self._store.answer_all)

    async def _serve(self, waiting: Waiting[Item], serve: Callable[[list[Item]], list[Any]]) -> None:
        waiting = [one for one in waiting if not self._has_failed(one)]
        if not waiting:
            return
        try:
            results = await asyncio.to_thread(serve, [item for item, _ in waiting])
        except Exception as error:  # noqa: BLE001 - every caller must get a result or an error
            if len(waiting) > 1 and not isinstance(error, WarehouseError):
                for one in waiting:  # one list causes the error: serve each list separately
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

    def _has_failed(self, one: tuple[Work | ListQuestion, asyncio.Future[Any]]) -> bool:
        """Return whether the list failed before. If so, its caller gets the same error."""
        (practice_id, endpoint, _), done = one
        failure = self._failures.get((practice_id, endpoint.name))
        if failure is not None and not done.done():
            done.set_exception(failure)
        return failure is not None
