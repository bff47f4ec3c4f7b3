"""The actions of partners on the platform: book appointments, contact clients, send messages."""

from datetime import datetime, timedelta
from typing import Any, Final

import polars as pl

from vetl_sandbox.events import Events
from vetl_sandbox.gates import Past, closed_gate
from vetl_sandbox.ground import Ground
from vetl_sandbox.messages.store import Messages
from vetl_sandbox.outreach import Outreach
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.slots import Slot, open_slots
from vetl_sandbox.staff import Staff
from vetl_sandbox.world.practices import Practice

_REMOTE_AFTER: Final = 240
_DAYS_AHEAD: Final = timedelta(days=7)


class Desk:
    """Everything that partners write through the interface and that then goes on by itself."""

    def __init__(self, ground: Ground, events: Events) -> None:
        self._ground = ground
        self._events = events
        self._callbacks: dict[str, str | None] = {}
        self.taken_slots: set[str] = set()
        self.messages = Messages(ground.agenda, ground.now, events.messages.changed, self._opted_out)
        self.staff = Staff(ground, self._book_for_request)
        self._outreach = Outreach(ground, self._closed_gate, self._book_for_request, self._outreach_finished)

    def create_appointment(
        self, practice: Practice, slot: Slot, client: Record, patient: Record, status: str | None
    ) -> str:
        """Book a slot and return the appointment's id; the practice's own system has it minutes later."""
        ground = self._ground
        directory = ground.directory(practice.id)
        row = directory.client_row(str(client["id"]))
        pet = directory.patient_row(str(patient["id"]))
        first, _, last = str(client["name"] or "").partition(" ")
        table = ground.table(practice.id, "appointments")
        row_id = table.insert(
            {
                "status": status or "ACCEPTED",
                "booking_date": slot.start,
                "end_date": slot.end,
                "remote_client_id": row.get("remote_client_id"),
                "remote_patient_id": pet.get("remote_patient_id"),
                "client_first_name": first,
                "client_last_name": last,
                "client_email": client["email"],
                "client_phone": client["phone"],
                "client_type": "existing",
                "patient_name": patient["name"],
            },
            ground.now(),
        )
        self.taken_slots.add(slot.uuid)
        ground.agenda.after(_REMOTE_AFTER, lambda: self._synced(practice, row_id))
        return row_id

    def create_outreach(self, practice: Practice, fields: dict[str, Any], callback_url: str | None) -> str:
        """Take in a request and return its id."""
        row_id = self._ground.table(practice.id, "ai_outbound").insert(fields, self._ground.now())
        self._callbacks[row_id] = callback_url
        self._outreach.accept(practice, row_id)
        return row_id

    def _synced(self, practice: Practice, row_id: str) -> None:
        ground = self._ground
        with ground.lock:
            now = ground.now()
            changes = {"remote_id": f"A{row_id[-9:]}", "updated_at": now}
            ground.table(practice.id, "appointments").update(row_id, changes, now, ground.switches)

    def _outreach_finished(self, practice: Practice, request: Record, appointment_id: str | None) -> None:
        callback_url = self._callbacks.get(request["id"])
        self._events.outreach_finished(practice.id, request, appointment_id, callback_url)

    def _opted_out(self, practice_id: str, phone: str) -> bool:
        """Return whether outreach to this number, or to the client who has it, has ended with an opt-out."""
        ground = self._ground
        with ground.lock:
            table = ground.table(practice_id, "ai_outbound")
            snapshot = table.snapshot(ground.now(), ground.switches)
            ended = snapshot.frame.filter(pl.col("outcome") == "opted_out")
            owner = ground.directory(practice_id).client_with_phone(phone)
            if owner is not None and ended.filter(table.of_client(str(owner["id"]), snapshot)).height:
                return True
            written = ended["written"].drop_nulls()
            return any(snapshot.written[place].get("contact_number") == phone for place in written)

    def _closed_gate(self, practice: Practice, request: Record) -> str | None:
        ground = self._ground
        with ground.lock:
            past = Past(
                practice_id=practice.id,
                calls=ground.table(practice.id, "phone_calls"),
                requests=ground.table(practice.id, "ai_outbound"),
                appointments=ground.table(practice.id, "appointments"),
                messages=self.messages,
                now=ground.now(),
                switches=ground.switches,
            )
            client_id = request["client_id"]
            row = ground.directory(practice.id).client_row(client_id) if client_id is not None else {}
            return closed_gate(request, past, row.get("remote_client_id"))

    def _book_for_request(self, practice: Practice, request: Record) -> str | None:
        """Book the next free slot for the client of a request or task, if the client is known and has a pet."""
        ground = self._ground
        with ground.lock:
            directory = ground.directory(practice.id)
            client = directory.client(request["client_id"]) if request["client_id"] is not None else None
            if client is None or not client["patients"]:
                return None
            slot = self._next_slot(practice, ground.now())
            return self.create_appointment(practice, slot, client, client["patients"][0], None)

    def _next_slot(self, practice: Practice, now: datetime) -> Slot:
        day = now.astimezone(practice.zone).date()
        slots = open_slots(practice, day, day + _DAYS_AHEAD, now)
        return next(slot for slot in slots if slot.uuid not in self.taken_slots)
