"""Saves gathered into commits of a good size: one transaction for a batch of windows, not one for each page."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from pipelines.core.pages import Changes
from pipelines.core.steps import AttachDetails, MergeRows, Question, ReplaceDays, Save

ROWS_AT_ONCE = 50_000
ROWS_OF_ALL_PRACTICES = 200_000
"""So many rows of one endpoint wait at most, of all practices that are read side by side."""

BYTES_A_ROW = 1_000
"""Of longer rows fewer wait: a row takes 250 bytes in CSV and 600 in JSON, with notes many more, and of a commit
of 50,000 rows of 20 KB DuckDB ran out of memory."""

COMMITS_AT_ONCE = 2
"""Batches of a list that are with the writer, one of which it may be writing; a third is filled meanwhile. With
one a first sync takes a tenth longer; without a bound each of its readers holds a batch, which is 60 MiB more."""

CommitSaves = Callable[[Sequence[Save]], Coroutine[Any, Any, Changes]]
PrepareSaves = Callable[[Sequence[Save]], list[Save]]
AnswerQuestion = Callable[[Question], Awaitable[Any]]


class WriteBuffer:
    """What one list of one practice has saved and not yet committed."""

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
        """Ask the warehouse; it sees what has been flushed."""
        self._saved: list[Save] = []
        self._rows = 0
        self._writing = asyncio.Semaphore(COMMITS_AT_ONCE)
        self._in_order = asyncio.Lock()
        """Batches go to the writer in the order in which they were saved: of two reads the later one stays."""
        self._written_at = 0
        """What `bytes_read` told at the last commit."""
        self._since_flush = Changes()
        self.changes = Changes()

    async def put(self, save: Save) -> None:
        """Keep for the next commit, which comes when enough is waiting.

        Whoever then brings more waits until one of `COMMITS_AT_ONCE` is done.
        """
        # Rows become columns as they come; pages of calls are many at a time, with the rest of their batch.
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
        """Commit all that is waiting. Returns what was changed since the last flush."""
        async with self._writing:
            await self._write(only_full=False)
        changes, self._since_flush = self._since_flush, Changes()
        return changes

    async def _write(self, *, only_full: bool) -> None:
        async with self._in_order:
            if not self._saved or (only_full and not self._is_full):
                return  # who waited before took it along
            saved, self._saved, self._rows = self._saved, [], 0
            self._written_at = self._bytes_read()
            if only_full:  # what is worth a thread, and may go on beside the commit that is under way
                saved = await asyncio.to_thread(self._prepare, saved)
            committing = asyncio.create_task(self._commit(saved))
        changes = await committing
        self._since_flush += changes
        self.changes += changes


def rows_in(save: Save) -> int:
    """How many rows a save holds, or stands for."""
    match save:
        case MergeRows() | AttachDetails():
            return len(save.rows)
        case ReplaceDays(certificate=evidence) if evidence is not None:
            return evidence.rows
        case _:
            return 0
