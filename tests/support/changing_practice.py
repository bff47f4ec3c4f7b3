"""Practices whose rows change in every way that a sync can meet, written by the real store."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from support.warehouse_with_rows import HARBOR, Filled, call_line, call_record, csv_page
from vetl.core.list_read import Practice
from vetl.core.steps import AttachDetails, MergeRows, MissingRecords, ReplaceDays
from vetl.endpoints.received import OUTREACH_EVENTS, SERVICE_REMINDER_EVENTS
from vetl.store.deliveries import Intake

Row = dict[str, Any]
PRACTICES = (
    HARBOR,
    Practice("p2", "Bayside", "Australia/Sydney", date(2025, 1, 1), "East"),
    Practice("p3", "Canalside", "Europe/London", date(2025, 1, 1), "West"),
)
FIRST_DAY = date(2025, 4, 20)
DAYS = 46
"""Some days are in the future when a story is first built, because the end of a day is a change too."""
CLIENTS = 6
"""So few clients that each has many contacts, and most changes affect an episode."""

STAGES = ("started", "pet_chosen", "slot_chosen")

LISTS = ("booking_sessions", "appointments", "ai_outbound", "staff_tasks")


class ChangingPractice:
    """One practice's lists at the source, and their warehouse."""

    def __init__(self, filled: Filled, practice: Practice, random: Random) -> None:
        self.filled = filled
        self._practice = practice
        self._random = random
        self._lists: dict[str, dict[str, Row]] = {name: {} for name in LISTS}
        self._calls: dict[date, list[dict[str, str]]] = {}
        self._number = 0
        self.done: list[str] = []

    def change(self, times: int) -> None:
        """Make some changes; `done` names them."""
        happenings: list[Callable[[], None]] = [self.add_row] * 4 + [self.change_row] * 4 + [self.replace_day] * 4
        happenings += [self.empty_day, self.attach_ids, self.attach_ids, self.delete_row]
        happenings += [self.look_client_up, self.look_client_up, self.forget_client]
        happenings += [self.receive_outcome, self.remind]
        for _ in range(times):
            happening = self._random.choice(happenings)
            self.done.append(f"{self._practice.id} {happening.__name__}")
            happening()

    def add_row(self) -> None:
        """Add a session, appointment, request or task; some come late, of a day long ago."""
        name = self._random.choice(LISTS)
        self._number += 1
        row = {"id": f"{name}-{self._number}", "created_at": self._instant()}
        self._lists[name][row["id"]] = row
        self._tell(name, row)

    def change_row(self) -> None:
        """Advance a row, reopen it, expire it, or correct its creation."""
        name = self._random.choice(LISTS)
        if self._lists[name]:
            row = self._random.choice(list(self._lists[name].values()))
            if self._random.random() < 0.1:
                row["created_at"] = self._instant()
            self._tell(name, row)

    def delete_row(self) -> None:
        name = self._random.choice(LISTS)
        if self._lists[name]:
            gone, _ = self._lists[name].popitem()
            self._commit(name, MissingRecords([gone], self.filled.now))

    def replace_day(self) -> None:
        """Read a day of calls again: some are new, others changed or gone."""
        day = FIRST_DAY + timedelta(days=self._random.randrange(DAYS))
        calls = [call for call in self._calls.get(day, []) if self._random.random() < 0.8]
        for call in calls:
            if self._random.random() < 0.4:
                call.update(self._result())
        calls += [self._call(day) for _ in range(self._random.randrange(4))]
        self._calls[day] = calls
        self._read_day(day)

    def empty_day(self) -> None:
        if self._calls:
            day = self._random.choice(list(self._calls))
            self._calls[day] = []
            self._read_day(day)

    def attach_ids(self) -> None:
        """Attach the ids of the JSON list to a day's calls."""
        days = [day for day, calls in self._calls.items() if calls]
        if days:
            day = self._random.choice(days)
            records = [self._record(day, number, call) for number, call in enumerate(self._calls[day])]
            self._commit("phone_calls", AttachDetails(records, day, day))

    def look_client_up(self) -> None:
        """Look a client up; the number or the remote id may be different than before."""
        client = self._random.randrange(CLIENTS)
        remote = f"R{client}" if self._random.random() < 0.8 else f"R{self._random.randrange(CLIENTS)}"
        self._merge("clients", {"id": f"c{client}", "name": "Jane", "phone": self._phone(), "remote_id": remote})

    def forget_client(self) -> None:
        gone = f"c{self._random.randrange(CLIENTS)}"
        self._commit("clients", MissingRecords([gone], self.filled.now))

    def receive_outcome(self) -> None:
        """Receive the webhook of a request, which names the appointment."""
        requests, appointments = list(self._lists["ai_outbound"]), list(self._lists["appointments"])
        if requests and appointments:
            event = {
                "request_id": self._random.choice(requests),
                "appointment_id": self._random.choice(appointments),
                "completed_at": self._instant(),
            }
            self._receive(OUTREACH_EVENTS, event)

    def remind(self) -> None:
        number = self._random.randrange(30)
        reminder = {"id": f"r{number}", "content_hash": str(self._random.random()), "group_status": "incomplete"}
        self._receive(SERVICE_REMINDER_EVENTS, reminder)

    def _receive(self, endpoint: Any, row: Row) -> None:
        now = self.filled.now
        whole = {**row, "body": {}, "received_at": now.isoformat()}
        self.filled.warehouse.take_in("run", [Intake(self._practice.id, endpoint, [whole], now)])
        self.filled.now += timedelta(minutes=10)

    def _tell(self, name: str, row: Row) -> None:
        random = self._random
        client, created = random.randrange(CLIENTS), datetime.fromisoformat(row["created_at"])
        later = (created + timedelta(hours=random.randrange(1, 300))).isoformat()
        appointment = random.choice([*self._lists["appointments"], None, None])
        fields: dict[str, Row] = {
            "booking_sessions": {
                "status": random.choice(["active", "completed", "abandoned", "paused"]),
                "stage": self._stage_after(row.get("stage")),
                "client_type": random.choice(["new", None]),
                "appointment_id": appointment,
                "remote_appointment_id": None if appointment else random.choice([f"A{random.randrange(9)}", None]),
                "last_activity_at": later,
            },
            "appointments": {
                "remote_id": f"A{random.randrange(9)}",
                "remote_client_id": random.choice([f"R{client}-7", f"R{client}", None]),
                "remote_patient_id": f"P{client}-7",
                "client_phone": self._phone(),
                "status": random.choice(["REQUESTED", "MOVED"]),
            },
            "ai_outbound": {
                "status": random.choice(["queued", "completed", "suppressed"]),
                "purpose": random.choice(["scheduling", "refill"]),
                "outcome": random.choice(["booked", "no_response", "opted_out", None]),
                "client_id": random.choice([f"c{client}", None]),
                "contact_number": self._phone(),
                "contacted_at": row["created_at"],
                "completed_at": random.choice([later, None]),
            },
            "staff_tasks": {
                "task_type": random.choice(["task", "rx_refill"]),
                "status": (status := random.choice(["pending", "completed", "canceled"])),
                "client_id": random.choice([f"c{client}", None]),
                "finalized_at": None if status == "pending" else later,
            },
        }
        row |= fields[name]
        if name != "ai_outbound":
            row["updated_at"] = self.filled.now.isoformat()
        self._merge(name, dict(row))

    def _stage_after(self, stage: str | None) -> str | None:
        """Return a later stage: no session goes back, so the order of stages is known."""
        reached = STAGES.index(stage) if stage else 0
        return self._random.choice([*STAGES[reached:], stage])

    def _call(self, day: date) -> dict[str, str]:
        minute = datetime(day.year, day.month, day.day, 8, tzinfo=UTC) + timedelta(
            minutes=self._random.randrange(600)
        )
        return {"minute": f"{minute:%Y-%m-%d %H:%M}", "phone_number": self._phone() or "", **self._result()}

    def _result(self) -> dict[str, str]:
        booked = self._random.random() < 0.4
        return {
            "booking_intent": self._random.choice(["Yes", "Yes", "No"]),
            "outcome": "Appointment booked" if booked else self._random.choice(["Voicemail", "Teleported"]),
            "booked": "Yes" if booked else "No",
        }

    def _record(self, day: date, number: int, call: dict[str, str]) -> Row:
        client = self._random.randrange(CLIENTS)
        local = datetime.fromisoformat(call["minute"]).replace(tzinfo=ZoneInfo(self._practice.time_zone))
        return call_record(
            f"{self._practice.id}-{day}-{number}",
            local.astimezone(UTC).isoformat(),
            client_id=f"c{client}",
            remote_client_id=self._random.choice([f"R{client}-7", f"R{client}-7", None]),
            patient_id=f"p{client}",
            remote_patient_id=f"P{client}-7",
            phone_number=call["phone_number"],
            booking_intent=call["booking_intent"] == "Yes",
            outcome=call["outcome"].lower().replace(" ", "_"),
            booked=call["booked"] == "Yes",
        )

    def _read_day(self, day: date) -> None:
        lines = [call_line(**call) for call in self._calls[day]]
        self._commit("phone_calls", ReplaceDays([csv_page(*lines)], day, day, self.filled.now))

    def _merge(self, name: str, row: Row) -> None:
        self._commit(name, MergeRows([row], self.filled.now))

    def _commit(self, name: str, work: Any) -> None:
        self.filled.practice = self._practice
        self.filled.commit(name, work)

    def _instant(self) -> str:
        moment = datetime(FIRST_DAY.year, FIRST_DAY.month, FIRST_DAY.day, tzinfo=UTC)
        return (moment + timedelta(minutes=self._random.randrange(DAYS * 1440))).isoformat()

    def _phone(self) -> str | None:
        number = self._random.randrange(CLIENTS + 1)
        return self._random.choice([f"+1212555010{number}", f"(212) 555-010{number}", None])
