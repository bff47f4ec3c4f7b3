"""Buffering saves, so that one transaction commits a batch of windows instead of one page."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from vetl.core.pages import Changes
from vetl.core.steps import AttachDetails, MergeRows, Question, ReplaceDays, Save

ROWS_AT_ONCE = 50_000
ROWS_OF_ALL_PRACTICES = 200_000
"""The most rows of one endpoint that wait to be written, over all practices that are read concurrently."""

BYTES_A_ROW = 1_000
"""If rows are longer than this, fewer of them wait. A row takes 250 bytes in CSV and 600 in JSON, and many more if
it has notes. DuckDB ran out of memory in a commit of 50,000 rows of 20 KB."""

COMMITS_AT_ONCE = 2
"""The most batches of a list that the writer has, while another one is filled. With a limit of one, a first sync
takes a tenth longer. Without a limit each reader keeps a batch in memory, which takes 60 MiB more."""

CommitSaves = Callable[[Sequence[Save]], Coroutine[Any, Any, Changes]]
PrepareSaves = Callable[[Sequence[Save]], list[Save]]
AnswerQuestion = Callable[[Question], Awaitable[Any]]


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
        self._saved: list[Save] = []
        self._rows = 0
        self._writing = asyncio.Semaphore(COMMITS_AT_ONCE)
        self._in_order = asyncio.Lock()
        """Batches reach the writer in the order in which they were saved, so that the later of two reads stays."""
        self._written_at = 0
        """The value of `bytes_read` at the last commit."""
        self._since_flush = Changes()
        self.changes = Changes()

    async def put(self, save: Save) -> None:
        """Add a save to the next commit, and commit if the buffer is full.

        While `COMMITS_AT_ONCE` commits are running, a caller whose save fills the buffer waits for one of them.
        """
        # Rows are converted to columns at once. Pages of calls are converted with the rest of their batch.
        self._saved += self._prepare([save]) if isinstance(save, MergeRows) else [save]
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


def rows_in(save: Save) -> int:
    """Return how many rows a save contains or certifies."""
    match save:
        case MergeRows() | AttachDetails():
            return len(save.rows)
        case ReplaceDays(certificate=evidence) if evidence is not None:
            return evidence.rows
        case _:
            return 0
