"""Saves gathered into commits of a good size: one transaction for a batch of windows, not one for each page."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from pipelines.core.pages import Changes
from pipelines.core.steps import AttachDetails, MergeRows, Question, ReplaceDays, Save

ROWS_AT_ONCE = 50_000

CommitSaves = Callable[[Sequence[Save]], Changes]
AnswerQuestion = Callable[[Question], Any]


class WriteBuffer:
    """What one list of one practice has saved and not yet committed.

    The warehouse has one writer: every commit and every question takes the same lock, and runs in a thread so
    that pages go on arriving meanwhile.
    """

    def __init__(self, commit: CommitSaves, answer: AnswerQuestion, turn: asyncio.Lock) -> None:
        self._commit = commit
        self._answer = answer
        self._turn = turn
        self._saved: list[Save] = []
        self._rows = 0
        self._since_flush = Changes()
        self.changes = Changes()

    async def put(self, save: Save) -> None:
        """Keep for the next commit, which comes at once when enough rows are waiting."""
        self._saved.append(save)
        self._rows += rows_in(save)
        if self._rows >= ROWS_AT_ONCE:
            await self._write()

    async def flush(self) -> Changes:
        """CommitSaves all that is waiting. Returns what was changed since the last flush."""
        await self._write()
        changes, self._since_flush = self._since_flush, Changes()
        return changes

    async def ask(self, question: Question) -> Any:  # noqa: ANN401 - each question has its own answer
        """Ask the warehouse; it sees what has been flushed."""
        async with self._turn:
            return await asyncio.to_thread(self._answer, question)

    async def _write(self) -> None:
        saved, self._saved, self._rows = self._saved, [], 0
        async with self._turn:
            if saved:
                changes = await asyncio.to_thread(self._commit, saved)
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
