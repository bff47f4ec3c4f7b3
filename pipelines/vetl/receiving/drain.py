"""Move deliveries from the inbox into the warehouse, which commits first, so that none is lost or counts twice."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from vetl.core.pages import Changes
from vetl.core.practice import problem_of_id
from vetl.endpoints.received import MESSAGE_EVENTS, MESSAGES, OUTREACH_EVENTS, SERVICE_REMINDER_EVENTS
from vetl.partner.webhooks import Channel, Delivery, message, parse_delivery, row
from vetl.receiving.inbox import Inbox, IsAbout, WaitingDelivery
from vetl.store.control.bad_rows import BadRow, content_key
from vetl.store.deliveries import Intake

AT_ONCE = 5_000
KEPT_FOR = timedelta(days=30)
"""Time that drained deliveries stay in the inbox, for a warehouse that is restored from a backup."""

EVENTS = {
    Channel.MESSAGES: MESSAGE_EVENTS,
    Channel.AI_OUTBOUND: OUTREACH_EVENTS,
    Channel.SERVICE_REMINDERS: SERVICE_REMINDER_EVENTS,
}


class IntakeStore(Protocol):
    """The part of the warehouse that this module needs."""

    def take_in(self, run_id: str, intakes: Sequence[Intake]) -> Changes:
        """Store all intakes in one transaction."""
        ...


def drain(
    inbox: Inbox, store: IntakeStore, run_id: str, is_about: IsAbout = lambda _practice, _body: False
) -> tuple[int, Changes]:
    """Move all waiting deliveries into the warehouse; return their number and their changes.

    Drained deliveries about a forgotten person (`is_about`) are erased from the inbox.

    Raises:
        InboxError: the inbox cannot be read or written.
    """
    moved, changes = 0, Changes()
    while waiting := inbox.waiting(AT_ONCE):
        changes += store.take_in(run_id, intakes(waiting))
        bodies = [(item, item.entry.body.decode(errors="replace")) for item in waiting]
        # An erased delivery needs no `settle`. If the process ends before, the delivery waits and is stored again.
        if gone := [item.number for item, body in bodies if is_about(item.entry.practice_id, body)]:
            inbox.erase(gone)
        inbox.settle([item.number for item in waiting])
        moved += len(waiting)
    inbox.forget(datetime.now(UTC) - KEPT_FOR)
    return moved, changes


def intakes(waiting: Sequence[WaitingDelivery]) -> list[Intake]:
    """Return deliveries as rows of their tables, in the order of their arrival."""
    groups: dict[tuple[str, Channel], list[WaitingDelivery]] = {}
    for item in waiting:
        groups.setdefault((_practice(item), item.entry.channel), []).append(item)
    return [intake for group, items in groups.items() for intake in _of_group(*group, items)]


def _practice(item: WaitingDelivery) -> str:
    """Return the practice of a delivery, or an empty text if it is unknown."""
    # Earlier versions of the receiver stored ids that no practice can have.
    practice_id = item.entry.practice_id
    return "" if problem_of_id(practice_id) else practice_id


def _of_group(practice_id: str, channel: Channel, items: Sequence[WaitingDelivery]) -> list[Intake]:
    last = max(item.entry.received_at for item in items)
    read_items = [(item, parse_delivery(channel, item.entry.body)) for item in items]
    bad = [_bad(item, problem) for item, delivery in read_items if (problem := _problem(item, delivery))]
    good = [(item, delivery) for item, delivery in read_items if not _problem(item, delivery)]
    events = [row(delivery, item.entry.received_at) for item, delivery in good]
    per_table = [Intake(practice_id, EVENTS[channel], events, last, bad)]
    if channel is Channel.MESSAGES:
        per_table.append(Intake(practice_id, MESSAGES, [message(delivery) for _, delivery in good], last))
    return per_table


def _problem(item: WaitingDelivery, delivery: Delivery) -> str | None:
    return delivery.problem or (None if item.entry.practice_id else "clinic_id: missing")


def _bad(item: WaitingDelivery, problem: str) -> BadRow:
    payload = item.entry.body.decode(errors="backslashreplace")
    return BadRow(content_key(payload), problem, payload)
