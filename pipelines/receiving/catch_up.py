"""What webhooks did not tell, asked for by id: messages that may have moved on, outreach that has ended.

Reminders have no endpoint: one whose delivery was lost is lost. Nor does get-request tell `outcome_detail`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pipelines.endpoint import Endpoint
from pipelines.endpoints import by_name
from pipelines.errors import RequestRefused
from pipelines.loading.received import Intake
from pipelines.pages import Changes, Row
from pipelines.performing import UNKNOWN_ID, together
from pipelines.received import MESSAGES
from pipelines.receiving.drain import Store
from pipelines.steps import MergeRows, MissingRecords, Save

BUDGET = 500
"""Requests per practice and list in one drain; the rest comes next time, longest unseen first."""

AT_ONCE = 8


class Source(Protocol):
    """The partner interface, as `partner.client` speaks it."""

    async def record(self, practice_id: str, path: str, record_id: str) -> Row | None:
        """One record by id, `None` where the platform has none."""
        ...


class Warehouse(Store, Protocol):
    """The warehouse, as catching up needs it."""

    def due_messages(self, practice_id: str, now: datetime, limit: int) -> list[str]:
        """Messages to get by id."""
        ...

    def due_requests(self, practice_id: str, endpoint: Endpoint, now: datetime, limit: int) -> list[str]:
        """Outreach requests to get by id."""
        ...

    def commit(self, run_id: str, practice_id: str, endpoint: Endpoint, work: Sequence[Save]) -> Changes:
        """Merge rows of a list."""
        ...


@dataclass(frozen=True, slots=True)
class CatchUp:
    """One catching up: where from, where to. `now` is the source's clock."""

    source: Source
    warehouse: Warehouse
    run_id: str
    now: datetime

    async def messages(self, practice_id: str) -> tuple[int, Changes]:
        """Get the messages that are due. Returns how many were asked for."""
        ids = self.warehouse.due_messages(practice_id, self.now, BUDGET)
        if not ids:
            return 0, Changes()
        rows, unknown = await self._get(practice_id, MESSAGES.path, ids)
        intake = Intake(practice_id, MESSAGES, rows, self.now, read_by_id=True, unknown_ids=unknown)
        return len(ids), self.warehouse.take_in(self.run_id, [intake])

    async def outreach(self, practice_id: str) -> tuple[int, Changes]:
        """Get the requests whose end was received before a sync has seen it. Returns how many."""
        endpoint = by_name("ai_outbound")
        ids = self.warehouse.due_requests(practice_id, endpoint, self.now, BUDGET)
        rows, unknown = await self._get(practice_id, endpoint.path, ids)
        work: list[Save] = [MergeRows(rows, self.now)] if rows else []
        if unknown:
            work.append(MissingRecords(unknown, self.now))
        return len(ids), self.warehouse.commit(self.run_id, practice_id, endpoint, work) if work else Changes()

    async def _get(self, practice_id: str, path: str, ids: Sequence[str]) -> tuple[list[Row], list[str]]:
        """The rows that the platform has, and the ids of the others."""
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(identity: str) -> Row | None:
            async with turn:
                return await self._record(practice_id, path, identity)

        found = await together(one(identity) for identity in ids)
        unknown = [identity for identity, row in zip(ids, found, strict=True) if row is None]
        return [row for row in found if row is not None], unknown

    async def _record(self, practice_id: str, path: str, identity: str) -> Row | None:
        try:
            return await self.source.record(practice_id, path, identity)
        except RequestRefused as error:
            if error.status in UNKNOWN_ID:
                return None
            raise
