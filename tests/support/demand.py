"""The demand ledger in plain Python: one practice at a time, from the rows that the source still has."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from support.attribution import Attribution, Booking, digits
from support.random_rows import Row

SILENCE = timedelta(days=14)
LAST = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass
class Contact:
    """One sign of a wish."""

    channel: str
    id: str
    at: datetime
    client_id: str | None
    phone: str | None
    result: str
    booked_at: datetime | None = None
    appointment_id: str | None = None
    attribution: str = "inferred"

    @property
    def order(self) -> tuple[Any, ...]:
        return (self.at, self.channel, self.id)


@dataclass
class Episode:
    """Contacts of one party without a long silence."""

    party: str
    contacts: list[Contact] = field(default_factory=list)
    booking: Booking | None = None
    followed_up: bool = False

    @property
    def id(self) -> str:
        return f"{self.contacts[0].channel}:{self.contacts[0].id}"


class Demand(Attribution):
    """One practice's wishes."""

    def episodes(self) -> list[Episode]:
        """All of them, with their first booking."""
        found: list[Episode] = []
        parties: dict[str, list[Contact]] = defaultdict(list)
        for contact in self._contacts():
            parties[self.party(contact.client_id, contact.phone) or f"{contact.channel}:{contact.id}"].append(
                contact
            )
        for party, contacts in parties.items():
            last: datetime | None = None
            for contact in sorted(contacts, key=lambda one: one.order):
                if last is None or contact.at - last > SILENCE:
                    found.append(Episode(party))
                found[-1].contacts.append(contact)
                last = contact.at
        appointments: dict[str | None, list[Row]] = defaultdict(list)
        for row in self.appointments:
            appointments[self.party(self.client_of(row), digits(row["client_phone"]))].append(row)
        for episode in found:
            episode.booking = self._first_booking(episode, appointments[episode.party])
            episode.followed_up = self._is_followed_up(episode)
        return found

    def _contacts(self) -> Iterator[Contact]:
        booked = self._booked_by_contacts()
        for contact in self._told():
            row = booked.get((contact.channel, contact.id))
            if row:
                contact.appointment_id = contact.appointment_id or row["id"]
                contact.attribution = "exact" if contact.channel == "session" else contact.attribution
                contact.client_id = contact.client_id or self.client_of(row)
                contact.phone = contact.phone or digits(row["client_phone"])
            contact.client_id = contact.client_id or self.by_phone.get(contact.phone or "")
            yield contact

    def _booked_by_contacts(self) -> Mapping[tuple[str, str], Row]:
        """The appointment that was made first of those that one contact booked."""
        found: dict[tuple[str, str], Row] = {}
        for row in sorted(self.appointments, key=lambda row: (row["created_at"] or LAST, row["id"])):
            booking = self.bookings[row["id"]]
            if booking:
                found.setdefault((booking.via, booking.evidence_id), row)
        return found

    def _told(self) -> Iterator[Contact]:
        for row in self.calls:
            if row["booking_intent"]:
                at, phone = row["called_at"], digits(row["phone_number"])
                client = row["client_id"] or self.by_remote_id.get(row["remote_client_id"] or "")
                result = row["outcome"] or row["state"] or "no outcome"
                yield Contact("call", row["call_key"], at, client, phone, result, at if row["booked"] else None)
        for row in self.sessions:
            named = row["appointment_id"] or row["remote_appointment_id"]
            ended = row["last_activity_at"] or row["updated_at"] or row["created_at"]
            state = "still active at" if row["status"] == "active" else "left at"
            result = f"{state} {row['stage'] or 'an unknown stage'}"
            booked_at = ended if named or row["status"] == "completed" else None
            if row["created_at"]:
                appointment = row["appointment_id"] or None
                how = "exact" if named else "inferred"
                yield Contact(
                    "session", row["id"], row["created_at"], None, None, result, booked_at, appointment, how
                )
        for row in self.requests:
            booked = row["outcome"] == "booked"
            if row["created_at"] and (booked or row["purpose"] == "scheduling"):
                ended = row["completed_at"] or row["contacted_at"] or row["created_at"]
                result = row["outcome"] or row["suppression_reason"] or row["status"]
                client, phone = row["client_id"], digits(row["contact_number"])
                named = self.named.get(row["id"], {}).get("appointment_id")
                how = "exact" if named else "inferred"
                booked_at = ended if booked else None
                yield Contact(
                    "outreach", row["id"], row["created_at"], client, phone, result, booked_at, named, how
                )
        for row in self.tasks:
            if row["created_at"] and row["client_id"] and row["task_type"] == "task":
                yield Contact(
                    "task", row["id"], row["created_at"], row["client_id"], None, f"task {row['status']}"
                )

    def _first_booking(self, episode: Episode, appointments: list[Row]) -> Booking | None:
        first, last = episode.contacts[0].at, episode.contacts[-1].at
        found = [
            Booking(one.booked_at, one.attribution, one.channel, one.appointment_id)
            for one in episode.contacts
            if one.booked_at
        ]
        for row in appointments:
            if row["created_at"] and first <= row["created_at"] <= last + SILENCE:
                via = self.bookings[row["id"]] or Booking(None, "inferred", "other", None)
                found.append(Booking(row["created_at"], via.attribution, via.via, row["id"]))
        return min(
            found,
            key=lambda one: (one.at, one.attribution, one.via, one.appointment_id is None, one.appointment_id),
            default=None,
        )

    def _is_followed_up(self, episode: Episode) -> bool:
        clients = {one.client_id for one in episode.contacts if one.client_id}
        return any(
            row["finalized_at"] and row["finalized_at"] >= episode.contacts[-1].at
            for row in self.tasks
            if row["status"] == "completed" and row["client_id"] in clients
        )
