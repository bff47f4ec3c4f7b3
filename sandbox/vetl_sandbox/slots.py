"""Open times of a practice: half hours within its opening hours; the id of each contains its time."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from vetl_sandbox.world.ids import number_of, opaque
from vetl_sandbox.world.practices import Practice

_PREFIX: Final = "slot"
_LENGTH: Final = timedelta(minutes=30)
_MINUTES: Final = 1 << 28
_SUNDAY: Final = 6


@dataclass(frozen=True)
class Slot:
    """A time that can be booked, in UTC."""

    uuid: str
    start: datetime

    @property
    def end(self) -> datetime:
        """The end of the slot."""
        return self.start + _LENGTH


def open_slots(practice: Practice, first: date, last: date, now: datetime) -> list[Slot]:
    """Return the slots after `now` on some local days, both included."""
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    slots = (slot for day in days for slot in _of_day(practice, day))
    return [slot for slot in slots if slot.start > now]


def slot_of(practice: Practice, uuid: str) -> Slot | None:
    """Return the slot behind an id; None if it is no slot of this practice."""
    number = number_of(_PREFIX, uuid)
    if number is None or number // _MINUTES != practice.number:
        return None
    start = datetime.fromtimestamp(number % _MINUTES * 60, UTC)
    slots = _of_day(practice, start.astimezone(practice.zone).date())
    return next((slot for slot in slots if slot.uuid == uuid), None)


def slot_at(practice: Practice, start: datetime) -> Slot:
    """Return the slot that begins at an instant."""
    return Slot(opaque(_PREFIX, practice.number * _MINUTES + int(start.timestamp()) // 60), start)


def _of_day(practice: Practice, day: date) -> list[Slot]:
    if day.weekday() == _SUNDAY and not practice.open_sunday:
        return []
    opens = datetime.combine(day, time(practice.opens), tzinfo=practice.zone).astimezone(UTC)
    count = (practice.closes - practice.opens) * 2
    return [slot_at(practice, opens + number * _LENGTH) for number in range(count)]
