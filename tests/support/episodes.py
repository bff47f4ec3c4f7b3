"""Contacts of a client or number, and how they make episodes."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from support.attribution import Booking
from support.random_rows import Row

SILENCE = WINDOW = timedelta(days=14)
"""The project's defaults."""
LAST = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass
class Contact:
    """One sign that somebody wants an appointment."""

    channel: str
    id: str
    at: datetime
    client_id: str | None
    phone: str | None
    result: str
    wanted: str | None
    begun_by: str = "practice"
    booked_at: datetime | None = None
    appointment_id: str | None = None
    attribution: str = "inferred"

    @property
    def order(self) -> tuple[Any, ...]:
        return (self.at, self.channel, self.id)


@dataclass
class Episode:
    """Contacts of one client or number until it was booked, or silent for long."""

    person: str
    contacts: list[Contact] = field(default_factory=list)
    booking: Booking | None = None
    appointment: Row | None = None
    followed_up: bool = False
    refusal: str | None = None

    @property
    def id(self) -> str:
        return f"{self.contacts[0].channel}:{self.contacts[0].id}"

    @property
    def names(self) -> set[str]:
        """Return the names of all contacts: each of them may have been an episode of its own."""
        return {f"{one.channel}:{one.id}" for one in self.contacts}

    @property
    def tries(self) -> list[Contact]:
        """Return the client's own contacts: what the practice does is no try."""
        return [one for one in self.contacts if one.begun_by == "client"]

    @property
    def last(self) -> Contact:
        """Return the client's last contact; the practice's last act if there is none."""
        return (self.tries or self.contacts)[-1]

    @property
    def client_id(self) -> str | None:
        return min((one.client_id for one in self.contacts if one.client_id), default=None)

    @property
    def phone(self) -> str | None:
        return min((one.phone for one in self.contacts if one.phone), default=None)


def in_episodes(person: str, contacts: list[Contact], desk: list[Booking]) -> list[Episode]:
    """Return the episodes of one client or number: contacts in their order, and appointments without a contact."""
    episodes: list[Episode] = []
    bookings = [one.booked_at for one in contacts if one.booked_at] + [one.at for one in desk if one.at]
    for place, contact in enumerate(contacts):
        last = contacts[place - 1].at if place else None
        if (
            last is None
            or contact.at - last > SILENCE
            or any(last <= booked_at < contact.at for booked_at in bookings)
        ):
            episodes.append(Episode(person))
        episodes[-1].contacts.append(contact)
    for episode, following in zip(episodes, [*episodes[1:], None], strict=True):
        first, last = episode.contacts[0].at, episode.contacts[-1].at
        until = following.contacts[0].at if following else LAST
        own = [
            Booking(one.booked_at, one.attribution, one.channel, one.appointment_id)
            for one in episode.contacts
            if one.booked_at
        ]
        made = [one for one in desk if one.at and first <= one.at < until and one.at - last <= WINDOW]
        episode.booking = min(own + made, key=by_time, default=None)
    return episodes


def by_time(one: Booking) -> tuple[Any, ...]:
    return (one.at, one.attribution, one.via, one.appointment_id is None, one.appointment_id)
