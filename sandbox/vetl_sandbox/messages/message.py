"""One message, and its statuses after it was sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from vetl_sandbox.messages.numbers import behaviour, supports_rcs

_PLACES: Final = {"sent": 0, "suppressed": 0, "delivered": 1, "failed": 1, "read": 2}
STATUSES: Final = ("sent", "delivered", "read", "failed", "suppressed")
_DELIVERED_AFTER, _FAILED_AFTER, _READ_AFTER = 3, 5, 90


@dataclass(frozen=True)
class NewMessage:
    """A message as a request asked for it, after every check passed."""

    phone: str
    client_id: str | None
    channel: str
    reference_id: str | None
    callback_url: str | None


@dataclass
class Message:
    """A message as it is now; `record` has the contract's fields."""

    practice_id: str
    record: dict[str, Any]
    callback_url: str | None
    changed_at: datetime

    @property
    def id(self) -> str:
        """Its id."""
        return self.record["id"]

    @property
    def status(self) -> str:
        """Its status."""
        return self.record["status"]

    @property
    def place(self) -> int:
        """How far on its way it is; it only moves forward."""
        return _PLACES[self.status]


@dataclass(frozen=True)
class Step:
    """A change some time after sending; `time` is the field with its instant."""

    after: timedelta
    time: str
    changes: Mapping[str, Any]


def steps_of(new: NewMessage, *, rcs_live: bool) -> tuple[Step, ...]:
    """Return the changes of a message that was handed to the carrier (contract: States and transitions)."""
    special = behaviour(new.phone)
    as_rcs = rcs_live and new.channel != "sms" and supports_rcs(new.phone)
    if special == "undelivered" or (new.channel == "rcs" and (special == "rcs_fails" or not as_rcs)):
        return (_failed("rcs" if new.channel == "rcs" else "sms"),)
    if as_rcs and special == "rcs_fails":
        error = "The RCS attempt failed; sent as SMS"
        return (_delivered("sms", error_code="rcs_undelivered", error_message=error),)
    if not as_rcs:
        return (_delivered("sms"),)
    delivered = _delivered("rcs")
    if special == "never_read":
        return (delivered,)
    return delivered, Step(timedelta(seconds=_READ_AFTER), "read_at", {"status": "read"})


def _delivered(channel: str, **more: str) -> Step:
    changes = {"status": "delivered", "channel_used": channel, **more}
    return Step(timedelta(seconds=_DELIVERED_AFTER), "delivered_at", changes)


def _failed(channel: str) -> Step:
    changes = {
        "status": "failed",
        "status_reason": "delivery_failed",
        "channel_used": channel,
        "error_code": "30003",
        "error_message": "The handset cannot be reached",
    }
    return Step(timedelta(seconds=_FAILED_AFTER), "failed_at", changes)
