"""Clients that are read by id, and the warehouse's knowledge of the ids that other rows mention."""

from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any

from support.model_source import ModelSource
from support.model_store import ModelStore, rows_of

from pipelines.core.errors import VetlError
from pipelines.core.pages import Row
from pipelines.core.steps import MergeRows, MissingRecords, ReferencedIds, Save, Step


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
        """Mention this id in another row."""
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
        assert isinstance(question, ReferencedIds)
        absent = [identity for identity, at in self.absent.items() if at < question.stale_before]
        stale = [identity for identity, at in self.read_at.items() if at < question.stale_before]
        unknown = sorted({*self.mentioned, *absent})
        return [*unknown, *sorted(stale, key=lambda item: (self.read_at[item], item))][: question.limit]
