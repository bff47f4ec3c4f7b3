"""Move deliveries from the inbox into the warehouse, which commits first, so that none is lost or counts twice.

Then records are read by id that webhooks left incomplete: messages that may have changed, outreach that has ended.
Service reminders have no endpoint, so a lost delivery of a reminder stays lost. The endpoint of outreach requests
does not return `outcome_detail`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from vetl.core.endpoint import Endpoint
from vetl.core.errors import NotFound, PracticeRefused, VetlError
from vetl.core.list_read import problem_of_id
from vetl.core.pages import Changes, Row
from vetl.core.steps import MergeRows, MissingRecords, Save
from vetl.endpoints import MESSAGE_EVENTS, MESSAGES, OUTREACH_EVENTS, SERVICE_REMINDER_EVENTS, by_name
from vetl.partner.client import PartnerClient
from vetl.partner.webhooks import Channel, Delivery, message, parse_delivery, row
from vetl.receiving.inbox import Entry, Inbox, IsAbout
from vetl.store import deliveries
from vetl.store.control.bad_rows import BadRow, content_key
from vetl.store.deliveries import Intake
from vetl.store.warehouse import Warehouse

AT_ONCE = 5_000
KEPT_FOR = timedelta(days=30)
"""Time that drained deliveries stay in the inbox, for a warehouse that is restored from a backup."""

EVENTS = {
    Channel.MESSAGES: MESSAGE_EVENTS,
    Channel.AI_OUTBOUND: OUTREACH_EVENTS,
    Channel.SERVICE_REMINDERS: SERVICE_REMINDER_EVENTS,
}


def drain(
    inbox: Inbox, store: Warehouse, run_id: str, is_about: IsAbout = lambda _practice, _body: False
) -> tuple[int, Changes]:
    """Move all waiting deliveries into the warehouse; return their number and their changes.

    Drained deliveries about a forgotten person (`is_about`) are erased from the inbox. Raise `InboxError` if the
    inbox cannot be read or written.
    """
    moved, changes = 0, Changes()
    while waiting := inbox.waiting(AT_ONCE):
        changes += deliveries.take_in(store, run_id, intakes(waiting))
        # An erased delivery needs no `settle`. If the process ends before, the delivery waits and is stored again.
        bodies = [(entry, entry.body.decode(errors="replace")) for entry in waiting]
        if gone := [entry.number for entry, body in bodies if is_about(entry.practice_id, body)]:
            inbox.erase(gone)
        inbox.settle([entry.number for entry in waiting])
        moved += len(waiting)
    inbox.forget(datetime.now(UTC) - KEPT_FOR)
    return moved, changes


def intakes(entries: Sequence[Entry]) -> list[Intake]:
    """Return deliveries as rows of their tables, in the order of their arrival."""
    groups: dict[tuple[str, Channel], list[Entry]] = {}
    for entry in entries:
        # A secret, or an earlier version of the receiver, may name an id that no practice can have.
        practice_id = "" if problem_of_id(entry.practice_id) else entry.practice_id
        groups.setdefault((practice_id, entry.channel), []).append(entry)
    return [intake for group, some in groups.items() for intake in _of_group(*group, some)]


def _of_group(practice_id: str, channel: Channel, entries: Sequence[Entry]) -> list[Intake]:
    bad: list[BadRow] = []
    good: list[tuple[Entry, Delivery]] = []
    for entry in entries:
        delivery = parse_delivery(channel, entry.body)
        if problem := delivery.problem or (None if entry.practice_id else "clinic_id: missing"):
            payload = entry.body.decode(errors="backslashreplace")
            bad.append(BadRow(content_key(payload), problem, payload))
        else:
            good.append((entry, delivery))
    last = max(entry.received_at for entry in entries)
    events = [row(delivery, entry.received_at) for entry, delivery in good]
    per_table = [Intake(practice_id, EVENTS[channel], events, last, bad)]
    if channel is Channel.MESSAGES:
        per_table.append(Intake(practice_id, MESSAGES, [message(delivery) for _, delivery in good], last))
    return per_table


BUDGET = 500
"""Most requests per practice and list in one drain; the next drain continues with the longest unread ids."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers: rows, ids that the platform does not know, and ids that failed with their errors."""

    rows: list[Row]
    unknown: list[str]
    failed: dict[str, VetlError]


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

    source: PartnerClient
    warehouse: Warehouse
    run_id: str
    now: datetime

    async def messages(self, practice_id: str) -> Caught:
        """Get the messages that are due."""
        ids = deliveries.due_messages(self.warehouse, practice_id, self.now, BUDGET)
        answers = _believed(await self._get(practice_id, MESSAGES, ids))
        return self._kept_messages(practice_id, ids, answers, answers.unknown)

    async def messages_by_id(self, practice_id: str, ids: Sequence[str]) -> Caught:
        """Get these messages, even if they are not due; ignore messages that the practice does not have."""
        answers = await self._get(practice_id, MESSAGES, ids)
        return self._kept_messages(practice_id, ids, answers, [])

    async def outreach(self, practice_id: str) -> Caught:
        """Get the outreach requests whose end a webhook reported before a sync read it."""
        endpoint = by_name("ai_outbound")
        ids = deliveries.due_requests(self.warehouse, practice_id, endpoint, self.now, BUDGET)
        answers = _believed(await self._get(practice_id, endpoint, ids))
        looked = [identity for identity in ids if identity not in answers.unknown]
        if looked:
            deliveries.keep_looks(self.warehouse, practice_id, endpoint, looked, self.now)
        work: list[Save] = [MergeRows(answers.rows, self.now)] if answers.rows else []
        if answers.unknown:
            work.append(MissingRecords(answers.unknown, self.now))
        changes = self.warehouse.commit(self.run_id, practice_id, endpoint, work) if work else Changes()
        return Caught(len(ids), changes, tuple(answers.unknown), _notes(practice_id, endpoint, answers))

    def _kept_messages(
        self, practice_id: str, ids: Sequence[str], answers: Answers, unknown: Sequence[str]
    ) -> Caught:
        if answers.failed:
            deliveries.keep_looks(self.warehouse, practice_id, MESSAGES, list(answers.failed), self.now)
        changes = Changes()
        if answers.rows or unknown:
            intake = Intake(practice_id, MESSAGES, answers.rows, self.now, read_by_id=True, unknown_ids=unknown)
            changes = deliveries.take_in(self.warehouse, self.run_id, [intake])
        notes = _notes(practice_id, MESSAGES, answers)
        return Caught(len(ids), changes, tuple(answers.unknown), notes)

    async def _get(self, practice_id: str, endpoint: Endpoint, ids: Sequence[str]) -> Answers:
        """Get these ids; raise if the sign-in or the practice is refused, or there are too many requests."""
        found = await self.source.records(practice_id, endpoint.path_of(practice_id), ids)
        refused = [row for row in found.values() if isinstance(row, PracticeRefused)]
        if refused and len(refused) == len(found):
            raise refused[0]
        times = self.warehouse.times(practice_id, endpoint)
        return Answers(
            rows=[times.read(row) for row in found.values() if isinstance(row, Mapping)],
            unknown=[identity for identity, row in found.items() if row is None],
            failed={identity: row for identity, row in found.items() if isinstance(row, VetlError)},
        )


def _believed(answers: Answers) -> Answers:
    """Return the answers, with unknown ids as failed if no other id is found (decision 73)."""
    if answers.rows or not answers.unknown:
        return answers
    error = NotFound("no row is found by its id; may this account read them?", status=404)
    return Answers([], [], {**answers.failed, **dict.fromkeys(answers.unknown, error)})


def _notes(practice_id: str, endpoint: Endpoint, answers: Answers) -> tuple[str, ...]:
    if not answers.failed:
        return ()
    error = next(iter(answers.failed.values()))
    return (f"{practice_id}: {len(answers.failed)} of {endpoint.name} not caught up: {error}",)
