"""The declaration of a kind of acts."""

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
