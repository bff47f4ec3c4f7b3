"""The client of a row and the origin of an appointment, in plain Python: one practice at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import product

import phonenumbers
from support.random_rows import Row, Tables

HOUR = timedelta(hours=1)
NEVER = timedelta.max
Candidate = tuple[str, timedelta, str, str]
"""The evidence of a booking: its kind, the distance in time, the channel, and its id; the smallest counts."""
Person = tuple[str | None, str | None]
"""A client and a telephone number, each if it is known."""


@dataclass(frozen=True)
class Booking:
    """The origin of an appointment or of an episode's booking."""

    at: datetime | None
    attribution: str
    via: str
    appointment_id: str | None
    evidence_id: str = ""


@cache
def as_number(spelling: str | None, region: str | None) -> str | None:
    """Return the telephone number of a spelling; without a region, only numbers with their country are known."""
    if not spelling:
        return None
    try:
        number = phonenumbers.parse(spelling, region)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def unambiguous(pairs: Iterable[tuple[str | None, str | None]]) -> dict[str, str]:
    clients_by_name: dict[str, set[str]] = defaultdict(set)
    for name, client in pairs:
        if name and client:
            clients_by_name[name].add(client)
    return {name: min(clients) for name, clients in clients_by_name.items() if len(clients) == 1}


def is_same(one: Person, other: Person) -> bool:
    return any(mine and mine == theirs for mine, theirs in zip(one, other, strict=True))


def apart(one: datetime | None, other: datetime | None) -> timedelta:
    return abs(one - other) if one and other else NEVER


class Attribution:
    """One practice's rows that the source still has; the owners of ids and numbers, the origins of bookings."""

    def __init__(self, practice: str, tables: Tables, region: str | None = None) -> None:
        self._region = region

        def of(name: str) -> list[Row]:
            return [row for row in tables[name] if row["practice_id"] == practice and not row["_deleted_at"]]

        self.calls, self.sessions, self.tasks = of("phone_calls"), of("booking_sessions"), of("staff_tasks")
        self.requests, self.clients = of("ai_outbound_requests"), of("clients")
        self.appointments, self.messages = of("appointments"), of("messages")
        self.acts = [row for row in tables.get("control.acts", ()) if row["practice_id"] == practice]
        self.named = {row["request_id"]: row for row in of("outreach_events") if row["appointment_id"]}
        self.by_remote_id = unambiguous(self._remote_ids())
        self.by_remote_patient = unambiguous(
            (row.get("remote_patient_id"), row.get("patient_id")) for row in self.calls
        )
        self.by_phone = unambiguous(
            (self.number(row[column]), row[key])
            for rows, column, key in (
                (self.clients, "phone", "id"),
                (self.calls, "phone_number", "client_id"),
                (self.requests, "contact_number", "client_id"),
            )
            for row in rows
        )
        self._booking_calls = [
            (call, self.caller(call)) for call in self.calls if call["outcome"] == "appointment_booked"
        ]
        self._booking_requests = [
            (row, self.contacted(row))
            for row in self.requests
            if row["outcome"] == "booked" and row["contacted_at"] and row["completed_at"]
        ]
        self.bookings = {row["id"]: self._booked_via(row) for row in self.appointments}

    def number(self, spelling: str | None) -> str | None:
        return as_number(spelling, self._region)

    def client_of(self, appointment: Row) -> str | None:
        by_id = self.by_remote_id.get(appointment["remote_client_id"] or "")
        return by_id or self.by_phone.get(self.number(appointment["client_phone"]) or "")

    def person(self, client_id: str | None, phone: str | None) -> str | None:
        return f"client:{client_id}" if client_id else f"phone:{phone}" if phone else None

    def _remote_ids(self) -> Iterator[tuple[str | None, str | None]]:
        own = {row["id"]: row["remote_id"] for row in self.clients if row["remote_id"]}
        called = [(row["remote_client_id"], row["client_id"]) for row in self.calls]
        suffixes = {
            remote[len(own[client]) :]
            for remote, client in called
            if remote and client in own and remote.startswith(f"{own[client]}-")
        }
        yield from called
        yield from (
            (remote + suffix, client) for (client, remote), suffix in product(own.items(), {"", *suffixes})
        )

    def _booked_via(self, row: Row) -> Booking | None:
        """Choose ids before inference, then the nearest in time."""
        candidates = [*self._by_ids(row), *self._by_call(row), *self._by_outreach(row)]
        if not candidates:
            return None
        attribution, _, via, evidence = min(candidates)
        return Booking(row["created_at"], attribution, via, row["id"], evidence)

    def _by_ids(self, row: Row) -> Iterator[Candidate]:
        for session in self.sessions:
            remote = session["remote_appointment_id"]
            if row["id"] == session["appointment_id"] or (remote and row["remote_id"] == remote):
                yield "exact", apart(session["created_at"], row["created_at"]), "online", session["id"]
        for request_id, event in self.named.items():
            if row["id"] == event["appointment_id"]:
                yield "exact", apart(event["completed_at"], row["created_at"]), "outreach", request_id

    def caller(self, call: Row) -> Person:
        phone = self.number(call["phone_number"])
        client = call["client_id"] or self.by_remote_id.get(call["remote_client_id"] or "")
        return client or self.by_phone.get(phone or ""), phone

    def contacted(self, request: Row) -> Person:
        phone = self.number(request["contact_number"])
        return request["client_id"] or self.by_phone.get(phone or ""), phone

    def booked_for(self, appointment: Row) -> Person:
        return self.client_of(appointment), self.number(appointment["client_phone"])

    def _by_call(self, row: Row) -> Iterator[Candidate]:
        made = row["created_at"]
        for call, caller in self._booking_calls if made else ():
            after = made - call["called_at"]
            if timedelta() <= after <= HOUR and is_same(caller, self.booked_for(row)):
                yield "inferred", after, "call", call["call_key"]

    def _by_outreach(self, row: Row) -> Iterator[Candidate]:
        made = row["created_at"]
        for request, contacted in self._booking_requests if made else ():
            after = made - request["completed_at"]
            in_time = made >= request["contacted_at"] and after <= HOUR
            if in_time and is_same(contacted, self.booked_for(row)):
                yield "inferred", abs(after), "outreach", request["id"]
