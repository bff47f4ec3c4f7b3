"""The promises of the warehouse, as dictionaries: commits, merges by version, answers from committed rows."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from pipelines.core.pages import Certificate, Row
from pipelines.core.steps import (
    IdsHere,
    IdsWithStatus,
    Learnt,
    MergeRows,
    MissingRecords,
    MoveCursor,
    Save,
    StatusCounts,
    Step,
    UpdatesOf,
)
from pipelines.engine.write_buffer import ROWS_AT_ONCE, rows_in
from pipelines.reading.rows import instant


def rows_of(save: MergeRows) -> Sequence[Row]:
    """Return the rows of a save that was not prepared before."""
    assert isinstance(save.rows, Sequence)
    return save.rows


class ModelStore:
    """One list. Saves wait until they are committed, at a flush or when enough rows are waiting.

    A killed process loses the waiting saves (`lose`) and nothing else.
    """

    def __init__(self, rows_at_once: int = ROWS_AT_ONCE) -> None:
        self.rows: dict[str, Row] = {}
        self.certificates: list[Certificate] = []
        self.cursor: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self.missing: set[str] = set()
        self._rows_at_once = rows_at_once
        self._waiting: list[Save] = []

    def put(self, step: Save) -> None:
        """Keep a save for the next commit."""
        self._waiting.append(step)
        if sum(map(rows_in, self._waiting)) >= self._rows_at_once:
            self.flush()

    def lose(self) -> None:
        """Lose the waiting saves: the process has ended before its commit."""
        self._waiting = []

    def flush(self) -> None:
        """Commit all waiting saves: rows in their order, then their certificates."""
        work, self._waiting = self._waiting, []
        for kind, saves in groupby((save for save in work if isinstance(save, MergeRows | MissingRecords)), type):
            if kind is MergeRows:
                self.merge([save for save in saves if isinstance(save, MergeRows)])
            else:
                self._miss([identity for save in saves for identity in getattr(save, "ids", ())])
        for save in work:
            self.keep(save)

    def keep(self, save: Save) -> None:
        """Store a save without rows."""
        match save:
            case MoveCursor():
                self.cursor = dict(save.cursor)
            case Learnt():
                self.capabilities[save.name] = save.value
            case _:
                pass
        if save.certificate is not None:
            self.certificates.append(save.certificate)

    def _miss(self, ids: Sequence[str]) -> None:
        self.missing.update(ids)
        for identity in ids:
            self.rows.pop(identity, None)

    def merge(self, saves: Sequence[MergeRows]) -> None:
        """Merge rows: the latest `updated_at` stays; between equals or without one, the latest read."""
        reads = [(row, save.read_at) for save in saves for row in rows_of(save)]
        for row, _ in sorted(reads, key=lambda read: (read[0].get("updated_at", ""), read[1])):
            here = self.rows.get(row["id"])
            if here is None or row.get("updated_at", "") >= here.get("updated_at", ""):
                self.rows[row["id"]] = row

    def answer(self, question: Step[Any]) -> Any:
        match question:
            case IdsWithStatus():
                return [key for key, row in self.rows.items() if row.get("status") in question.statuses]
            case IdsHere(time, start, end):
                return [key for key, row in self.rows.items() if _within(time and instant(row[time]), start, end)]
            case UpdatesOf():
                times = {instant(self.rows[identity]["updated_at"]) for identity in question.ids}
                return sorted(at for at in times if at is not None)
            case StatusCounts():
                counts: dict[str, int] = {}
                for row in self.rows.values():
                    counts[row["status"]] = counts.get(row["status"], 0) + 1
                return counts
            case _:
                raise AssertionError(question)


def _within(at: datetime | None, start: datetime | None, end: datetime | None) -> bool:
    return at is None or ((start is None or at >= start) and (end is None or at < end))
