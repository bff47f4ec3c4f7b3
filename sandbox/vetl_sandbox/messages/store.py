"""All messages of all practices: sent at once, never twice for one reference (contract: Create a message)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from vetl_sandbox.agenda import Agenda
from vetl_sandbox.messages.message import Message, NewMessage, Step, steps_of
from vetl_sandbox.messages.numbers import behaviour
from vetl_sandbox.world.practices import Practice

A_MINUTE: Final = 120
_REFUSALS: Final = {"opted_out": "opted_out", "blocked": "blocked_number"}
_TIMES: Final = ("sent_at", "delivered_at", "read_at", "failed_at")


class ProviderUnavailableError(Exception):
    """The messaging provider did not answer; nothing is confirmed (502)."""


@dataclass
class Messages:
    """Messages by id and reference; the agenda changes their statuses.

    `changed` is called with a message whenever it has a new status; `opted_out` says whether the owner of a number
    has replied STOP to a practice.
    """

    agenda: Agenda
    now: Callable[[], datetime]
    changed: Callable[[Message], None]
    opted_out: Callable[[str, str], bool]
    _known: dict[tuple[str, str], Message] = field(default_factory=dict)
    _failed_once: set[tuple[str, str]] = field(default_factory=set)
    _recent: dict[str, deque[datetime]] = field(default_factory=dict)

    def admits(self, practice_id: str) -> bool:
        """Count a request to create; return false beyond 120 within a minute."""
        recent = self._recent.setdefault(practice_id, deque())
        now = self.now()
        while recent and recent[0] <= now - timedelta(minutes=1):
            recent.popleft()
        if len(recent) >= A_MINUTE:
            return False
        recent.append(now)
        return True

    def find(self, practice_id: str, either_id: str) -> Message | None:
        """Return the message with this id or reference."""
        return self._known.get((practice_id, either_id))

    def texted(self, practice_id: str, client_id: str, since: datetime) -> bool:
        """Return whether a client has been sent a message since an instant."""
        return any(
            owner == practice_id and message.record["client_id"] == client_id
            for (owner, _), message in self._known.items()
            if (message.record["sent_at"] or datetime.min.replace(tzinfo=since.tzinfo)) >= since
        )

    def refusal(self, practice_id: str, phone: str) -> str | None:
        """Return why a number is not texted, if it is not (contract: `status_reason`)."""
        if self.opted_out(practice_id, phone):
            return "opted_out"
        return _REFUSALS.get(behaviour(phone) or "")

    def create(self, practice: Practice, new: NewMessage) -> Message:
        """Send, or suppress, a message that passed every check.

        Raises:
            ProviderUnavailableError: The provider of this number fails once for each reference.
        """
        special = behaviour(new.phone)
        reason = self.refusal(practice.id, new.phone)
        attempt = practice.id, new.reference_id or ""
        fails = special in ("confirmation_lost", "not_handed_over") and attempt not in self._failed_once
        if fails:
            self._failed_once.add(attempt)
        if fails and special == "not_handed_over":
            raise ProviderUnavailableError
        message = self._born(practice, new, reason)
        if reason is None:
            for step in steps_of(new, rcs_live=practice.rcs_live):
                self.agenda.add(message.changed_at + step.after, lambda step=step: self._move(message, step))
        self.changed(message)
        if fails:
            raise ProviderUnavailableError
        return message

    def _born(self, practice: Practice, new: NewMessage, reason: str | None) -> Message:
        now, suppressed = self.now(), reason is not None
        record = {
            "id": f"msg_{uuid4().hex}",
            "reference_id": new.reference_id,
            "status": "suppressed" if suppressed else "sent",
            "status_reason": reason,
            "channel_requested": new.channel,
            "channel_used": None if suppressed or new.channel == "auto" else new.channel,
            "client_id": new.client_id,
            "error_code": None,
            "error_message": None,
            **dict.fromkeys(_TIMES),
            "sent_at": None if suppressed else now,
            "created_at": now,
        }
        message = Message(practice.id, record, new.callback_url, now)
        for key in filter(None, (message.id, new.reference_id)):
            self._known[practice.id, key] = message
        return message

    def _move(self, message: Message, step: Step) -> None:
        message.changed_at = self.now()
        message.record = message.record | dict(step.changes) | {step.time: message.changed_at}
        self.changed(message)
