"""The only writer of a sync, and the saves that wait for it, so that a transaction commits a batch of windows.

The warehouse is a protocol here, because `vetl doctor` keeps its observations in memory. Saves and questions that
arrive during a transaction are handled in the next turn.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from vetl.core import steps
from vetl.core.endpoint import Endpoint
from vetl.core.errors import WarehouseError
from vetl.core.pages import Changes

Work = tuple[str, Endpoint, Sequence[steps.Save]]
"""The saves of one list: the id of the practice, the list, the saves."""
ListQuestion = tuple[str, Endpoint, steps.Question]
"""A question about one list: the id of the practice, the list, the question."""


class Store(Protocol):
    """The warehouse; `store.warehouse` implements it."""

    def prepared(self, practice_id: str, endpoint: Endpoint, saves: Sequence[steps.Save]) -> list[steps.Save]:
        """Return the same saves, after the work that can be done before they are written."""
        ...

    def commit_all(self, run_id: str, works: Sequence[Work]) -> list[Changes]:
        """Commit the saves of all these lists in one transaction, or none of them."""
        ...

    def answer_all(self, list_questions: Sequence[ListQuestion]) -> list[Any]:
        """Return the answers to the questions of strategies, in order."""
        ...

    def cursor(self, practice_id: str, endpoint_name: str) -> dict[str, Any] | None:
        """Return the cursor of the last commit."""
        ...

    def capabilities(self, practice_id: str, endpoint_name: str) -> dict[str, Any]:
        """Return the observed behaviour of the source for this list."""
        ...

    def counts(self, practices: Sequence[str], endpoint: Endpoint) -> Mapping[str, tuple[int, int]]:
        """Return for each practice how many rows are stored and not deleted, and how many are in quarantine."""
        ...


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

    async def commit(self, practice_id: str, endpoint: Endpoint, saves: Sequence[steps.Save]) -> Changes:
        """Commit the saves of this list in one transaction and return the changes.

        Raise `Exception` if saves of this list cannot be stored, these or earlier ones; those of other lists are
        stored.
        """
        return await self._done(self._saved, (practice_id, endpoint, saves))

    async def answer(self, practice_id: str, endpoint: Endpoint, question: steps.Question) -> Any:  # noqa: ANN401
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


ROWS_AT_ONCE = 50_000
ROWS_OF_ALL_PRACTICES = 100_000
"""The most rows of one endpoint that wait to be written, over all practices that are read concurrently. With twice
as many, a first sync of ten practices takes 40 MiB and an eighth of the CPU more."""

BYTES_A_ROW = 1_000
"""If rows are longer than this, fewer of them wait. A row takes 250 bytes in CSV and 600 in JSON, and many more if
it has notes. DuckDB ran out of memory in a commit of 50,000 rows of 20 KB."""

COMMITS_AT_ONCE = 2
"""The most batches of a list that the writer has, while another one is filled. With a limit of one, a first sync
takes a tenth longer. Without a limit each reader keeps a batch in memory, which takes 60 MiB more."""

CommitSaves = Callable[[Sequence[steps.Save]], Coroutine[Any, Any, Changes]]
PrepareSaves = Callable[[Sequence[steps.Save]], list[steps.Save]]
AnswerQuestion = Callable[[steps.Question], Awaitable[Any]]


class WriteBuffer:
    """The saves of one list of one practice that are not yet committed."""

    def __init__(
        self,
        commit: CommitSaves,
        prepare: PrepareSaves,
        answer: AnswerQuestion,
        *,
        bytes_read: Callable[[], int],
        rows_at_once: int,
    ) -> None:
        self._commit = commit
        self._prepare = prepare
        self._bytes_read = bytes_read
        self._rows_at_once = rows_at_once
        self.ask = answer
        """Return the answer of the warehouse to a question. The warehouse contains all flushed saves."""
        self._saved: list[steps.Save] = []
        self._rows = 0
        self._writing = asyncio.Semaphore(COMMITS_AT_ONCE)
        self._in_order = asyncio.Lock()
        """Batches reach the writer in the order in which they were saved, so that the later of two reads stays."""
        self._written_at = 0
        """The value of `bytes_read` at the last commit."""
        self._since_flush = Changes()
        self.changes = Changes()

    async def put(self, save: steps.Save) -> None:
        """Add a save to the next commit, and commit if the buffer is full.

        While `COMMITS_AT_ONCE` commits are running, a caller whose save fills the buffer waits for one of them.
        """
        # Rows are converted to columns at once. Pages of calls are converted with the rest of their batch.
        self._saved += self._prepare([save]) if isinstance(save, steps.MergeRows) else [save]
        self._rows += rows_in(save)
        if self._is_full:
            async with self._writing:
                await self._write(only_full=True)

    @property
    def _is_full(self) -> bool:
        waiting = self._bytes_read() - self._written_at
        return self._rows >= self._rows_at_once or waiting >= self._rows_at_once * BYTES_A_ROW

    async def flush(self) -> Changes:
        """Commit all waiting saves. Return the changes since the last flush."""
        async with self._writing:
            await self._write(only_full=False)
        changes, self._since_flush = self._since_flush, Changes()
        return changes

    async def _write(self, *, only_full: bool) -> None:
        async with self._in_order:
            if not self._saved or (only_full and not self._is_full):
                return  # another caller has written these saves
            saved, self._saved, self._rows = self._saved, [], 0
            self._written_at = self._bytes_read()
            if only_full:  # a large batch is worth a thread, and is prepared while an earlier commit runs
                saved = await asyncio.to_thread(self._prepare, saved)
            committing = asyncio.create_task(self._commit(saved))
        changes = await committing
        self._since_flush += changes
        self.changes += changes


def rows_in(save: steps.Save) -> int:
    """Return how many rows a save contains or certifies."""
    match save:
        case steps.MergeRows() | steps.AttachDetails():
            return len(save.rows)
        case steps.ReplaceDays(certificate=evidence) if evidence is not None:
            return evidence.rows
        case _:
            return 0
