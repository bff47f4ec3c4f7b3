"""The declaration of a kind of acts."""

from dataclasses import dataclass
from typing import Literal

LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")


@dataclass(frozen=True, slots=True)
class ActKind:
    """A kind of acts. `rests_on`: the lists that must be certified, because an act follows from them."""

    name: str
    task_type: Literal["task", "rx_refill"] = "task"
    rests_on: tuple[str, ...] = LISTS
