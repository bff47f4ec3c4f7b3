"""The one writer of a sync: what lists save while a transaction is under way goes into the next one together."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from pipelines.core.endpoint import Endpoint
from pipelines.core.errors import VetlError, WarehouseError
from pipelines.core.pages import Changes
from pipelines.core.steps import Save
from pipelines.engine.protocols import Store, Work

T = TypeVar("T")


class Writer:
    """Takes turns for commits and questions, in a thread, so that pages go on arriving meanwhile.

    A transaction costs as much as some small statements, and each statement on cursors and certificates serves
    all lists of its transaction.
    """

    def __init__(self, run_id: str, store: Store) -> None:
        self._run_id = run_id
        self._store = store
        self._turn = asyncio.Lock()
        self._waiting: list[tuple[Work, asyncio.Future[Changes]]] = []
        self._committing: asyncio.Task[None] | None = None

    async def commit(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> Changes:
        """Returns once the saves of this list are committed, all of them in one transaction.

        Raises:
            ContractBroken: this list's saves cannot be stored; those of others in its transaction are.
            WarehouseError: nothing can be stored.
        """
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(((practice_id, endpoint, saves), done))
        if self._committing is None or self._committing.done():
            # A task of its own: whoever waits for it may be cancelled, and others wait for it too.
            self._committing = asyncio.create_task(self._commit_waiting())
        return await done

    async def ask(self, question: Callable[..., T], *arguments: object) -> T:
        """What the store answers; it sees what is committed."""
        async with self._turn:
            return await asyncio.to_thread(question, *arguments)

    async def _commit_waiting(self) -> None:
        while self._waiting:
            async with self._turn:
                batch, self._waiting = self._waiting, []
                await self._commit(batch)

    async def _commit(self, batch: Sequence[tuple[Work, asyncio.Future[Changes]]]) -> None:
        try:
            changes = await asyncio.to_thread(self._store.commit_all, self._run_id, [work for work, _ in batch])
        except Exception as error:  # noqa: BLE001 - whatever it was, nobody may wait for an answer in vain
            if len(batch) > 1 and isinstance(error, VetlError) and not isinstance(error, WarehouseError):
                for one in batch:  # one list is at fault, and the others are stored without it
                    await self._commit([one])
                return
            for _, done in batch:
                if not done.done():
                    done.set_exception(error)
        else:
            for (_, done), change in zip(batch, changes, strict=True):
                if not done.done():
                    done.set_result(change)
