"""The words of acting: the kinds of acts, a booking request, the act for it, and how far an act has come.

The marks by which a task of vetl is found again are a code in its description, and its reference time. A code
follows from the practice, the kind and one contact of a booking request. So a task is recognised without the
ledger, and also after two episodes turn out to be one: the merged episode has the contact of the code.
"""

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Literal

OUTCOME_IS_OPEN = "it is not known whether the platform has made the task"


class ActState(StrEnum):
    """How far an act has come.

    `asking`: the request may have left. `unknown`: it may have left, and nothing that asked for it is at work.
    `made`: the task is there. `canceling`, `canceled`: vetl cancels it, because the client booked meanwhile.
    `left`: the client booked, but a person has worked with the task. `refused`: the platform will not make it.
    """

    PLANNED = "planned"
    HOLDOUT = "holdout"
    ASKING = "asking"
    UNKNOWN = "unknown"
    MADE = "made"
    REFUSED = "refused"
    CANCELING = "canceling"
    CANCELED = "canceled"
    LEFT = "left"


OPEN = frozenset({ActState.ASKING, ActState.UNKNOWN})
"""States in which it is not known whether there is a task."""

UNASKED = frozenset({ActState.PLANNED, ActState.HOLDOUT})
"""States in which there is certainly no task."""


LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")
"""The lists that must be certified, because an act follows from them."""


@dataclass(frozen=True, slots=True)
class ActKind:
    """A kind of acts. `task_type` is that of a staff task, `None` for a message.

    `hours`: the hours of the practice's clock in which the platform takes it.
    """

    name: str
    task_type: Literal["task", "rx_refill"] | None = "task"
    hours: tuple[int, int] = (0, 24)


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


@dataclass(frozen=True, slots=True)
class BookingRequest:
    """An unbooked request that somebody should call back: a row of the call-back list with its contacts."""

    practice_id: str
    episode_id: str
    contacts: tuple[str, ...]
    client_id: str | None
    phone_number: str | None
    last_at: datetime
    urgency: int
    fields: Mapping[str, str]
    """The values of a template's fields."""


@dataclass(frozen=True, slots=True)
class Act:
    """A task or a message to be made, with its words. `phone_number`: that of a message to an unknown client."""

    practice_id: str
    episode_id: str
    kind: str
    code: str
    title: str
    description: str
    client_id: str | None
    reference_time_at: datetime
    contacts: tuple[str, ...]
    phone_number: str | None = None


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A booking request for which no task is made, and the reason in one word."""

    practice_id: str
    episode_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """An act as the ledger has it. `act.episode_id` is empty if only the code of its task is known.

    `since`: the platform's time from which the request can no longer leave, for an open act. `seen`: a digest of
    the task when vetl saw it first. `found_by`: `answer`, `code` or `reference`. `certified_through`: the earliest
    end of a list that the plan rests on, as ISO 8601.
    """

    act: Act
    state: ActState
    plan: str
    planned_at: datetime
    asked_at: datetime | None = None
    since: datetime | None = None
    task_id: str | None = None
    found_by: str | None = None
    seen: str | None = None
    note: str = ""
    approved_by: str | None = None
    certified_through: str | None = None


_CODE = re.compile(r"\[vetl ([A-Z2-7]{12})\]")


def code_of(practice_id: str, kind: str, contact: str) -> str:
    """Return the code of a booking request that began with this contact, such as `call:c-1`."""
    digest = hashlib.sha256(f"{practice_id}\n{kind}\n{contact}".encode()).digest()
    return b32encode(digest)[:12].decode()


def codes_of(practice_id: str, kind: str, contacts: Iterable[str]) -> set[str]:
    """Return the codes that a task about any of these contacts may have."""
    return {code_of(practice_id, kind, contact) for contact in contacts}


def marked(description: str, code: str) -> str:
    """Return the description with the line that holds the code."""
    return f"{description}\n[vetl {code}]"


def codes_in(*texts: str | None) -> list[str]:
    """Return the codes in these texts of a task, in their order."""
    return [code for text in texts if text for code in _CODE.findall(text)]


def reference_time(last_at: datetime, code: str) -> datetime:
    """Return the minute of the last contact, with seconds that follow from the code.

    Servers keep times to the second at least, and several booking requests may have one minute.
    """
    seconds = int.from_bytes(hashlib.sha256(code.encode()).digest()[:4]) % 60
    return last_at.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(seconds=seconds)


def share_of(practice_id: str, kind: str, contact: str) -> float:
    """Return a stable number from 0 to below 1 for a booking request, by which it is in the holdout or not."""
    digest = hashlib.sha256(f"holdout\n{practice_id}\n{kind}\n{contact}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64
