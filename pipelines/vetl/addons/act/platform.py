"""What applying needs from outside, when requests may leave, and what came of them."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from vetl.addons.act.acts import UNASKED, HeldBack, LedgerEntry
from vetl.addons.act.kinds import KINDS
from vetl.addons.act.sighting import TasksRead
from vetl.core.zones import zone
from vetl.partner.models import Message, StaffTask
from vetl.partner.practice import Sent
from vetl.partner.request_models import NewMessage, NewStaffTask, StaffTaskChanges


class TaskDesk(Protocol):
    """The part of `partner.practice.PartnerPractice` that writes staff tasks."""

    async def create_staff_task(self, task: NewStaffTask) -> StaffTask:
        """Create a task. It is never repeated after an answer that did not come."""
        ...

    async def update_staff_task(self, task_id: str, changes: StaffTaskChanges) -> StaffTask:
        """Change the given fields of a task."""
        ...


class MessageDesk(Protocol):
    """The part of `partner.practice.PartnerPractice` that sends messages."""

    async def send_message(self, message: NewMessage) -> Sent:
        """Send a message, or return the one with the same `reference_id`."""
        ...

    async def message(self, message_id: str) -> Message | None:
        """Return the message with this `reference_id`."""
        ...


@dataclass(frozen=True, slots=True)
class ActPlatform:
    """The parts of the outside that applying needs.

    `read_tasks` reads all tasks of a practice. `clock` is the platform's time. `obstacle` says why nothing may be
    sent at all, such as the kill switch.
    """

    desk: Callable[[str], TaskDesk]
    read_tasks: Callable[[str], Awaitable[TasksRead]]
    clock: Callable[[], datetime]
    obstacle: Callable[[], str | None] = lambda: None
    messages: Callable[[str], MessageDesk] | None = None


@dataclass(frozen=True, slots=True)
class ActLimits:
    """When requests may leave. `quiet`: hours of the practice's clock; `zones`: by practice."""

    zones: Mapping[str, str]
    settle: timedelta
    quiet: tuple[int, int] = (0, 0)

    def is_quiet(self, practice_id: str, kind: str, at: datetime) -> bool:
        """Return whether the practice is in its quiet hours, or the platform takes no act of this kind now."""
        begins, ends = self.quiet
        hour = at.astimezone(zone(self.zones[practice_id])).hour
        first, last = KINDS[kind].hours
        is_quiet = begins <= hour < ends if begins <= ends else hour >= begins or hour < ends
        return is_quiet or not first <= hour < last

    def made_today(self, entries: Iterable[LedgerEntry], now: datetime) -> dict[str, int]:
        """Return how many requests left in the current day of each practice; open ones count."""
        counts: Counter[str] = Counter()
        for entry in entries:
            name = self.zones.get(entry.act.practice_id)
            if name and entry.asked_at and entry.state not in UNASKED:
                local = zone(name)
                counts[entry.act.practice_id] += (
                    entry.asked_at.astimezone(local).date() == now.astimezone(local).date()
                )
        return dict(counts)


@dataclass(slots=True)
class ApplyResult:
    """The result of applying a plan. `failures` and `doubts` are one line each."""

    sent: int = 0
    adopted: int = 0
    canceled: int = 0
    unknown: int = 0
    held_back: list[HeldBack] = field(default_factory=list[HeldBack])
    failures: list[str] = field(default_factory=list[str])
    doubts: list[str] = field(default_factory=list[str])

    @property
    def exit_code(self) -> int:
        """Return 1 if a request was refused, 3 if something is unknown or uncertified, else 0."""
        if self.failures:
            return 1
        return 3 if self.unknown or self.doubts else 0
