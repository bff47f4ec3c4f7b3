"""The kinds of acts, each a declaration."""

from dataclasses import dataclass
from typing import Literal

LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")


@dataclass(frozen=True, slots=True)
class ActKind:
    """A kind of acts. `rests_on`: the lists that must be certified, because an act follows from them.

    `task_type` is that of a staff task, `None` for a message. `hours`: the hours of the practice's clock in which
    the platform takes it.
    """

    name: str
    task_type: Literal["task", "rx_refill"] | None = "task"
    hours: tuple[int, int] = (0, 24)
    rests_on: tuple[str, ...] = LISTS


CALL_BACK = ActKind(name="call_back")
"""Calling back somebody who wanted an appointment and has none: a booking request of the call-back list."""

TEXT = ActKind(name="text", task_type=None, hours=(8, 21))
"""Texting somebody who wanted an appointment and has none. Contract: Create a message, Sending hours.

The interface makes it safe to repeat: a `reference_id` that was sent before returns its message. A text may keep
the platform's own outreach from this client for 72 hours, so each practice has to opt in.
"""

KINDS: dict[str, ActKind] = {kind.name: kind for kind in (CALL_BACK, TEXT)}


def is_message(kind: str) -> bool:
    """Return whether acts of this kind are messages, and not staff tasks."""
    return KINDS[kind].task_type is None
