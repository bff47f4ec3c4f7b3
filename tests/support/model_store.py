"""The promises of the warehouse, as dictionaries: commits, merges by version, answers from committed rows.

Clients are read by id (`People`), and `Mentions` knows the ids that other rows mention.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from random import Random
from typing import Any

from support.model_source import ModelSource
from vetl.core.errors import VetlError
from vetl.core.pages import Certificate, Row, instant
from vetl.core.steps import (
    IdsHere,
    IdsWithStatus,
    Learnt,
    MergeRows,
    MissingRecords,
    MoveCursor,
    ReferencedIds,
    Save,
    StatusCounts,
    Step,
)
from vetl.engine.writer import ROWS_AT_ONCE, rows_in


def rows_of(save: MergeRows) -> Sequence[Row]:
    """Return the rows of a save that was not prepared before."""
    assert isinstance(save.rows, Sequence)
    return save.rows


class WaitingSaves:
    """Saves that wait until they are committed, at a flush or when enough rows are waiting.

    A killed process loses the waiting saves (`lose`) and nothing else.
    """

    def __init__(self, rows_at_once: int = ROWS_AT_ONCE) -> None:
        self.certificates: list[Certificate] = []
        self.cursor: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self._rows_at_once = rows_at_once
        self._waiting: list[Save] = []

    def put(self, step: Save) -> None:
        self._waiting.append(step)
        if sum(map(rows_in, self._waiting)) >= self._rows_at_once:
            self.flush()

    def lose(self) -> None:
        """Lose the waiting saves: the process has ended before its commit."""
        self._waiting = []

    def flush(self) -> None:
        """Commit all waiting saves."""
        work, self._waiting = self._waiting, []
        for save in work:
            self.keep(save)

    def keep(self, save: Save) -> None:
        match save:
            case MoveCursor():
                self.cursor = dict(save.cursor)
            case Learnt():
                self.capabilities[save.name] = save.value
            case _:
                pass
        if save.certificate is not None:
            self.certificates.append(save.certificate)


class ModelStore(WaitingSaves):
    """One list."""

    def __init__(self, rows_at_once: int = ROWS_AT_ONCE) -> None:
        super().__init__(rows_at_once)
        self.rows: dict[str, Row] = {}
        self.missing: set[str] = set()

    def flush(self) -> None:
        """Commit all waiting saves: rows in their order, then their certificates."""
        of_rows = [save for save in self._waiting if isinstance(save, MergeRows | MissingRecords)]
        for kind, saves in groupby(of_rows, type):
            if kind is MergeRows:
                self.merge([save for save in saves if isinstance(save, MergeRows)])
            else:
                self._miss([identity for save in saves for identity in getattr(save, "ids", ())])
        super().flush()

    def _miss(self, ids: Sequence[str]) -> None:
        self.missing.update(ids)
        for identity in ids:
            self.rows.pop(identity, None)

    def merge(self, saves: Sequence[MergeRows]) -> None:
        """Merge rows: the latest `updated_at` stays; between equals or without one, the latest read."""
        reads = [(row, save.read_at) for save in saves for row in rows_of(save)]
        for row, _ in sorted(reads, key=lambda read: (read[0].get("updated_at") or "", read[1])):
            here = self.rows.get(row["id"])
            if here is None or (row.get("updated_at") or "") >= (here.get("updated_at") or ""):
                self.rows[row["id"]] = row

    def answer(self, question: Step[Any]) -> Any:
        match question:
            case IdsWithStatus():
                return [key for key, row in self.rows.items() if row.get("status") in question.statuses]
            case IdsHere(time, start, end):
                times = {key: time and instant(row[time] or row["created_at"]) for key, row in self.rows.items()}
                return [key for key, at in times.items() if _within(at, start, end)]
            case StatusCounts():
                counts: dict[str, int] = {}
                for row in self.rows.values():
                    counts[row["status"]] = counts.get(row["status"], 0) + 1
                return counts
            case _:
                raise AssertionError(question)


def _within(at: datetime | None, start: datetime | None, end: datetime | None) -> bool:
    return at is None or ((start is None or at >= start) and (end is None or at < end))


class People(ModelSource):
    """Clients by id. `answers` replaces the answer for an id, once for each entry."""

    def __init__(self, *ids: str) -> None:
        super().__init__(Random(1), stamped=False)
        self.answers: dict[str, list[Row | VetlError | None]] = {}
        for identity in ids:
            self.appear(identity)

    def appear(self, identity: str) -> None:
        """Add a client with this id, or rename an existing one."""
        version = len(self.versions.get(identity, ()))
        self._becomes(identity, {"id": identity, "name": f"{identity}, {version}"})

    def record(self, identity: str) -> Row | VetlError | None:
        replacements = self.answers.get(identity)
        row = super().record(identity)
        return replacements.pop(0) if replacements else row


class Mentions(ModelStore):
    """The mentioned ids, when each was read, and which were missing (`control.lookups`)."""

    def __init__(self, *ids: str) -> None:
        super().__init__()
        self.mentioned = set(ids)
        self.read_at: dict[str, datetime] = {}
        self.absent: dict[str, datetime] = {}

    def mention(self, identity: str) -> None:
        if identity not in self.read_at and identity not in self.absent:
            self.mentioned.add(identity)

    def merge(self, saves: Sequence[MergeRows]) -> None:
        super().merge(saves)
        for save in saves:
            self._looked_up(self.read_at, {row["id"]: save.read_at for row in rows_of(save)})

    def keep(self, save: Save) -> None:
        super().keep(save)
        if isinstance(save, MissingRecords):
            self._looked_up(self.absent, dict.fromkeys(save.ids, save.read_at))

    def _looked_up(self, where: dict[str, datetime], ids: dict[str, datetime]) -> None:
        for identity in ids:
            self.read_at.pop(identity, None)
            self.absent.pop(identity, None)
        where |= ids
        self.mentioned -= ids.keys()

    def answer(self, question: Step[Any]) -> Any:
        if not isinstance(question, ReferencedIds):
            return super().answer(question)
        absent = [identity for identity, at in self.absent.items() if at < question.stale_before]
        stale = [identity for identity, at in self.read_at.items() if at < question.stale_before]
        unknown = sorted({*self.mentioned, *absent})
        return [*unknown, *sorted(stale, key=lambda item: (self.read_at[item], item))][: question.limit]
