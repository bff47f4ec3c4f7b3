"""Booking requests in plain Python: one practice at a time, from the rows that the source still has."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from support.attribution import Attribution, Booking
from support.episodes import LAST, Contact, Episode, in_episodes
from support.random_rows import Row

LOST_AFTER = timedelta(days=14)
FOLLOWED_UP_WITHIN = timedelta(days=7)
CALLED_BACK_WITHIN = timedelta(days=30)
"""The project's defaults."""
OTHER_INTENTS = {
    "appointment_rescheduled": "reschedule",
    "appointment_confirmed": "confirmation",
    "appointment_canceled": "cancellation",
}
COMMON_WORDS = {
    "task": "scheduling",
    "rx_refill": "prescription_refill",
    "refill": "prescription_refill",
    "callback_followup": "callback",
    "general": "general_inquiry",
}
ENDED = {"COMPLETED", "CANCELED", "NO_SHOW"}
NEVER_CALL = {"do_not_call", "opted_out", "sms_opted_out", "notifications_disabled", "pet_deceased"}
DO_NOT_CHASE = {
    "appointment_canceled",
    "recent_or_upcoming_appointment",
    "active_conversation",
    "client_inactive",
}


def intent_of(call: Row) -> str | None:
    intent = OTHER_INTENTS.get(call["outcome"] or "")
    return intent or ("new_booking" if call["booking_intent"] else None)


class Requests(Attribution):
    def episodes(self) -> list[Episode]:
        """Return all episodes, with their first booking."""
        people: dict[str, list[Contact]] = defaultdict(list)
        for contact in self.contacts():
            people[self.person_of(contact)].append(contact)
        desk: dict[str | None, list[Booking]] = defaultdict(list)
        for row in self.appointments:
            person = self.person(*self.booked_for(row))
            booking = self.bookings[row["id"]]
            mine = {(one.channel, one.id) for one in people.get(person or "", ())}
            if row["created_at"] and not (booking and (booking.via, booking.evidence_id) in mine):
                via, how = (booking.via, booking.attribution) if booking else ("other", "inferred")
                desk[person].append(Booking(row["created_at"], how, via, row["id"]))
        episodes = [
            episode
            for person, contacts in people.items()
            for episode in in_episodes(person, sorted(contacts, key=lambda one: one.order), desk[person])
        ]
        by_id, refusals = {row["id"]: row for row in self.appointments}, self._refusals()
        for episode in episodes:
            if episode.booking and episode.booking.appointment_id:
                episode.appointment = by_id.get(episode.booking.appointment_id)
            episode.followed_up = self._is_followed_up(episode)
            episode.refusal = refusals.get(episode.person)
        return episodes

    def answer_since(self, episode: Episode, episodes: Iterable[Episode], now: datetime) -> str | None:
        """Return why nobody has to call back: the state of the client or number since the last try."""
        last, person = episode.last.at, episode.person
        own = [row for row in self.appointments if self.person(*self.booked_for(row)) == person]
        booked = [row["created_at"] for row in own if row["created_at"]]
        booked += [
            one.booked_at
            for other in episodes
            if other.person == person
            for one in other.contacts
            if one.booked_at
        ]
        if any(at >= last for at in booked):
            return "booked_since"
        if any(row["booking_date"] and row["booking_date"] > now and row["status"] not in ENDED for row in own):
            return "appointment_ahead"
        pending = any(
            row["status"] == "pending" and row["client_id"] and row["client_id"] == episode.client_id
            for row in self.tasks
        )
        if pending or any(
            call["outcome"] == "task_created"
            and call["called_at"] >= episode.contacts[0].at
            and self.person(*self.caller(call)) == person
            for call in self.calls
        ):
            return "open_task"
        acts = [(row, sent) for row, sent in self.acts_sent() if row["episode_id"] in episode.names]
        if any(self._is_waiting(row) for row, _ in acts):
            return "open_task"
        is_again = any(
            other.person == person and other.tries and not other.booking and other.contacts[0].at > last
            for other in episodes
        )
        if is_again:
            return "asked_again"
        return "followed_up" if any(sent >= last for _, sent in acts) else None

    def acts_sent(self) -> list[tuple[Row, datetime]]:
        """Return the acts of vetl whose request left and was not refused, and when it left."""
        return [
            (row, row["asked_at"] or row["planned_at"])
            for row in self.acts
            if row["state"] not in {"planned", "holdout", "refused"}
        ]

    def _is_waiting(self, act: Row) -> bool:
        status = {row["id"]: row["status"] for row in self.tasks}.get(act["task_id"]) or "pending"
        return act["kind"] == "call_back" and act["state"] != "canceled" and status == "pending"

    def is_made_by_vetl(self, task: Row) -> bool:
        texts = (task.get("description") or "", task.get("title") or "")
        return any("[vetl " in text for text in texts) or task["id"] in {row["task_id"] for row in self.acts}

    def person_of(self, contact: Contact) -> str:
        return self.person(contact.client_id, contact.phone) or f"{contact.channel}:{contact.id}"

    def contacts(self) -> Iterator[Contact]:
        booked = self._booked_by_contacts()
        for contact in self._told():
            row = booked.get((contact.channel, contact.id))
            if row:
                booking = self.bookings[row["id"]]
                assert booking
                contact.appointment_id = contact.appointment_id or row["id"]
                if contact.attribution == "inferred":
                    contact.attribution = booking.attribution
                contact.client_id = contact.client_id or self.client_of(row)
                contact.phone = contact.phone or self.booked_for(row)[1]
                contact.booked_at = contact.booked_at or max(row["created_at"] or contact.at, contact.at)
            yield contact

    def _booked_by_contacts(self) -> Mapping[tuple[str, str], Row]:
        """Return the earliest appointment of those that one contact booked."""
        by_contact: dict[tuple[str, str], Row] = {}
        for row in sorted(self.appointments, key=lambda row: (row["created_at"] or LAST, row["id"])):
            booking = self.bookings[row["id"]]
            if booking:
                by_contact.setdefault((booking.via, booking.evidence_id), row)
        return by_contact

    def _told(self) -> Iterator[Contact]:
        for row in self.calls:
            if intent_of(row) == "new_booking":
                at, who = row["called_at"], self.caller(row)
                result = row["outcome"] or row["state"] or "no outcome"
                by = "client" if row["direction"] == "inbound" else "practice"
                booked_at = at if row["booked"] else None
                wanted = row["call_classification"] or None
                yield Contact("call", row["call_key"], at, *who, result, wanted, by, booked_at)
        yield from self._told_by_sessions()
        for row in self.requests:
            booked = row["outcome"] == "booked"
            if row["created_at"] and (booked or row["purpose"] == "scheduling"):
                at, who = row["created_at"], self.contacted(row)
                booked_at = max(row["completed_at"] or row["contacted_at"] or at, at) if booked else None
                result = row["outcome"] or row["suppression_reason"] or row["status"]
                named = self.named.get(row["id"], {}).get("appointment_id")
                wanted, how = (
                    COMMON_WORDS.get(row["purpose"], row["purpose"]) or None,
                    "exact" if named else "inferred",
                )
                yield Contact("outreach", row["id"], at, *who, result, wanted, "practice", booked_at, named, how)
        for row in self.tasks:
            is_request = row["task_type"] == "task" and not self.is_made_by_vetl(row)
            if row["created_at"] and row["client_id"] and is_request:
                state = f"task {row['status']}"
                yield Contact("task", row["id"], row["created_at"], row["client_id"], None, state, "scheduling")

    def _told_by_sessions(self) -> Iterator[Contact]:
        for row in self.sessions:
            at, named = row["created_at"], row["appointment_id"] or row["remote_appointment_id"]
            state = "still active at" if row["status"] == "active" else "left at"
            result = f"{state} {row['stage'] or 'an unknown stage'}"
            if at:
                is_booked = bool(named) or row["status"] == "completed"
                booked_at = max(row["last_activity_at"] or row["updated_at"] or at, at) if is_booked else None
                end = (booked_at, row["appointment_id"] or None, "exact" if named else "inferred")
                yield Contact("online", row["id"], at, None, None, result, "scheduling", "client", *end)

    def _is_followed_up(self, episode: Episode) -> bool:
        last = episode.last
        fitting = {"task", "rx_refill"} if last.wanted == "prescription_refill" else {"task"}
        return any(
            row["finalized_at"] and last.at <= row["finalized_at"] <= last.at + FOLLOWED_UP_WITHIN
            for row in self.tasks
            if row["status"] == "completed"
            and row["task_type"] in fitting
            and row["client_id"]
            and row["client_id"] == episode.client_id
        )

    def _refusals(self) -> dict[str, str]:
        """Return the reasons for which clients and numbers must not be called."""
        said: dict[str, set[str]] = defaultdict(set)
        for row in self.calls:
            if row["outcome"] in NEVER_CALL:
                said[self.person(*self.caller(row)) or f"call:{row['call_key']}"].add(row["outcome"])
        for row in self.requests:
            if {row["outcome"], row["suppression_reason"]} & NEVER_CALL:
                person = self.person(*self.contacted(row)) or f"outreach:{row['id']}"
                said[person].add(row["outcome"] if row["outcome"] in NEVER_CALL else row["suppression_reason"])
        return {person: min(words) for person, words in said.items()}
