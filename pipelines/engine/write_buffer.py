"""Saves gathered into commits of a good size: one transaction for a batch of windows, not one for each page."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pipelines.core.pages import Changes
from pipelines.core.steps import AttachDetails, MergeRows, Question, ReplaceDays, Save

ROWS_AT_ONCE = 50_000
ROWS_OF_ALL_PRACTICES = 200_000
"""So many rows of one endpoint wait at most, of all practices that are read side by side."""

CommitSaves = Callable[[Sequence[Save]], Awaitable[Changes]]
AnswerQuestion = Callable[[Question], Awaitable[Any]]


class WriteBuffer:
    """What one list of one practice has saved and not yet committed."""

    def __init__(self, commit: CommitSaves, answer: AnswerQuestion, *, rows_at_once: int = ROWS_AT_ONCE) -> None:
        self._commit = commit
        self._rows_at_once = rows_at_once
        self.ask = answer
        """Ask the warehouse; it sees what has been flushed."""
        self._saved: list[Save] = []
        self._rows = 0
        self._since_flush = Changes()
        self.changes = Changes()

    async def put(self, save: Save) -> None:
        """Keep for the next commit, which comes at once when enough rows are waiting."""
        self._saved.append(save)
        self._rows += rows_in(save)
        if self._rows >= self._rows_at_once:
            await self._write()

    async def flush(self) -> Changes:
        """Commit all that is waiting. Returns what was changed since the last flush."""
        await self._write()
        changes, self._since_flush = self._since_flush, Changes()
        return changes

    async def _write(self) -> None:
        saved, self._saved, self._rows = self._saved, [], 0
        if saved:
            changes = await self._commit(saved)
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
