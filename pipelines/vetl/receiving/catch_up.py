"""Get records by id that webhooks left incomplete: messages that may have changed, outreach that has ended.

Service reminders have no endpoint, so a lost delivery of a reminder stays lost. The endpoint of outreach requests
does not return `outcome_detail`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from vetl.core.endpoint import Endpoint
from vetl.core.errors import (
    ContractBroken,
    RequestRefused,
    TornAnswer,
    Unreachable,
    VetlError,
)
from vetl.core.pages import Changes, Row
from vetl.core.steps import MergeRows, MissingRecords, Save
from vetl.endpoints import by_name
from vetl.endpoints.received import MESSAGES
from vetl.engine.gather import gather
from vetl.engine.runner import UNKNOWN_ID
from vetl.receiving.drain import IntakeStore
from vetl.store.deliveries import Intake

BUDGET = 500
"""Most requests per practice and list in one drain; the next drain continues with the longest unread ids."""

AT_ONCE = 8

FAILURES = 3
"""Failures of single ids of one list, after which the other ids are left to the next drain."""


class RecordSource(Protocol):
    """The part of `partner.client` that this module needs."""

    async def record(self, practice_id: str, path: str, record_id: str) -> Row | None:
        """Return a record by id, or `None` if the platform does not have it."""
        ...


class CatchUpStore(IntakeStore, Protocol):
    """The part of the warehouse that this module needs."""

    def due_messages(self, practice_id: str, now: datetime, limit: int) -> list[str]:
        """Return the messages that are due to be read by id."""
        ...

    def due_requests(self, practice_id: str, endpoint: Endpoint, now: datetime, limit: int) -> list[str]:
        """Return the outreach requests that are due to be read by id."""
        ...

    def keep_looks(self, practice_id: str, endpoint: Endpoint, ids: Sequence[str], now: datetime) -> None:
        """Store that these ids were requested now."""
        ...

    def commit(self, run_id: str, practice_id: str, endpoint: Endpoint, work: Sequence[Save]) -> Changes:
        """Commit changes of a list."""
        ...


@dataclass(slots=True)
class Answers:
    """The answers: rows, ids that the platform does not know, and ids that failed with their errors."""

    rows: list[Row] = field(default_factory=list[Row])
    unknown: list[str] = field(default_factory=list[str])
    failed: dict[str, VetlError] = field(default_factory=dict[str, VetlError])


@dataclass(frozen=True, slots=True)
class Caught:
    """The result of one catch-up; `missing` are ids unknown to the platform, `notes` lines about failures."""

    requested: int = 0
    changes: Changes = field(default_factory=Changes)
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatchUp:
    """One catch-up from a source into a warehouse; `now` is the source's clock."""

    source: RecordSource
    warehouse: CatchUpStore
    run_id: str
    now: datetime

    async def messages(self, practice_id: str) -> Caught:
        """Get the messages that are due."""
        ids = self.warehouse.due_messages(practice_id, self.now, BUDGET)
        answers = await self._get(practice_id, MESSAGES, ids)
        return self._kept_messages(practice_id, ids, answers, answers.unknown)

    async def messages_by_id(self, practice_id: str, ids: Sequence[str]) -> Caught:
        """Get these messages, even if they are not due; ignore messages that the practice does not have."""
        answers = await self._get(practice_id, MESSAGES, ids)
        return self._kept_messages(practice_id, ids, answers, [])

    async def outreach(self, practice_id: str) -> Caught:
        """Get the outreach requests whose end a webhook reported before a sync read it."""
        endpoint = by_name("ai_outbound")
        ids = self.warehouse.due_requests(practice_id, endpoint, self.now, BUDGET)
        answers = await self._get(practice_id, endpoint, ids)
        looked = [identity for identity in ids if identity not in answers.unknown]
        if looked:
            self.warehouse.keep_looks(practice_id, endpoint, looked, self.now)
        work: list[Save] = [MergeRows(answers.rows, self.now)] if answers.rows else []
        if answers.unknown:
            work.append(MissingRecords(answers.unknown, self.now))
        changes = self.warehouse.commit(self.run_id, practice_id, endpoint, work) if work else Changes()
        return Caught(len(ids), changes, tuple(answers.unknown), _notes(practice_id, endpoint, answers))

    def _kept_messages(
        self, practice_id: str, ids: Sequence[str], answers: Answers, unknown: Sequence[str]
    ) -> Caught:
        if answers.failed:
            self.warehouse.keep_looks(practice_id, MESSAGES, list(answers.failed), self.now)
        changes = Changes()
        if answers.rows or unknown:
            intake = Intake(practice_id, MESSAGES, answers.rows, self.now, read_by_id=True, unknown_ids=unknown)
            changes = self.warehouse.take_in(self.run_id, [intake])
        notes = _notes(practice_id, MESSAGES, answers)
        return Caught(len(ids), changes, tuple(answers.unknown), notes)

    async def _get(self, practice_id: str, endpoint: Endpoint, ids: Sequence[str]) -> Answers:
        """Get all ids; after `FAILURES` failures of single ids, leave the ids that were not requested yet.

        Raises:
            VetlError: the sign-in or the practice is refused, or there are too many requests.
        """
        turn, answers = asyncio.Semaphore(AT_ONCE), Answers()

        async def get_in_turn(identity: str) -> None:
            async with turn:
                if len(answers.failed) < FAILURES:
                    await self._get_one(practice_id, endpoint.path_of(practice_id), identity, answers)

        await gather(get_in_turn(identity) for identity in ids)
        return answers

    async def _get_one(self, practice_id: str, path: str, identity: str, answers: Answers) -> None:
        try:
            row = await self.source.record(practice_id, path, identity)
        except RequestRefused as error:
            if error.status not in UNKNOWN_ID:
                answers.failed[identity] = error
                return
            row = None
        except (ContractBroken, TornAnswer, Unreachable) as error:
            answers.failed[identity] = error
            return
        if row is None:
            answers.unknown.append(identity)
        else:
            answers.rows.append(row)


def _notes(practice_id: str, endpoint: Endpoint, answers: Answers) -> tuple[str, ...]:
    if not answers.failed:
        return ()
    error = next(iter(answers.failed.values()))
    return (f"{practice_id}: {len(answers.failed)} of {endpoint.name} not caught up: {error}",)
