"""Small scenes at one practice, each of which one part of one model's scope alone takes in.

`before` is there at a build, `after` happens until the next one. Each scene has clients, ids and days of its own,
so that none brings what another one shows.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from support.filled import HARBOR, Filled, call_line, call_record

from pipelines.endpoint import Endpoint
from pipelines.loading.received import Intake
from pipelines.received import MESSAGES, OUTREACH_EVENTS, SERVICE_REMINDER_EVENTS

STAGE = replace(HARBOR, id="p3", name="Stage", group="West")
MONTH = datetime(2025, 4, 1, 16, 30, tzinfo=UTC)
"""Noon and a half in New York."""
INTENT: dict[str, Any] = {"phone_number": "", "outcome": "voicemail", "booked": False}
FINAL = {"status": "completed", "finalized_at": MONTH.isoformat()}
Scene = Callable[[Filled], None]


def at(day: int, minutes: int = 0) -> str:
    return (MONTH + timedelta(days=day - 1, minutes=minutes)).isoformat()


def call(filled: Filled, day: int, **fields: Any) -> None:
    """A call on a day without others, and what its JSON record tells beside the CSV."""
    record: dict[str, Any] = {**INTENT, "client_id": None, **fields}
    texts = {
        "phone_number": record["phone_number"],
        "booking_intent": "Yes" if record.get("booking_intent", True) else "No",
        "outcome": record["outcome"].replace("_", " ").capitalize(),
        "booked": "Yes" if record["booked"] else "No",
    }
    when = (MONTH + timedelta(days=day - 1)).date()
    filled.replace_days(call_line(f"{when} 12:30", **texts), first=when, last=when)
    filled.attach(call_record(f"call-{day}", at(day), **record), first=when, last=when)


def client(filled: Filled, identity: str, phone: str | None = None) -> None:
    filled.merge("clients", {"id": identity, "name": "Ann", "phone": phone, "remote_id": f"R-{identity}"})


def appointment(filled: Filled, day: int, **fields: Any) -> None:
    """Made ten minutes after whatever else happens that day."""
    row = {"id": f"appointment-{day}", "created_at": at(day, 10), "updated_at": at(day, 10), "status": "REQUESTED"}
    filled.merge("appointments", {**row, **fields})


def request(filled: Filled, day: int, **fields: Any) -> None:
    """Outreach that booked, as the list tells it."""
    row = {"id": f"request-{day}", "created_at": at(day), "contacted_at": at(day), "completed_at": at(day, 5)}
    filled.merge("ai_outbound", {**row, "status": "completed", "outcome": "booked", **fields})


def event(filled: Filled, day: int, names: str) -> None:
    """The webhook of that request, which names the appointment."""
    row = {"request_id": f"request-{day}", "appointment_id": names, "completed_at": at(day, 5)}
    receive(filled, OUTREACH_EVENTS, row)


def reminder(filled: Filled, day: int, **ids: str) -> None:
    """The webhook of a reminder, sent before anything else that day."""
    row = {"id": f"reminder-{day}", "content_hash": "1", "timestamp": at(day, -60), "group_status": "incomplete"}
    receive(filled, SERVICE_REMINDER_EVENTS, {**row, **ids})


def receive(filled: Filled, kind: Endpoint, row: dict[str, Any]) -> None:
    whole = {**row, "body": {}, "received_at": filled.now.isoformat()}
    filled.warehouse.take_in("run", [Intake(filled.practice.id, kind, [whole], filled.now)])
    filled.now += timedelta(hours=1)


def session(filled: Filled, day: int, **fields: Any) -> None:
    """Booked online."""
    row = {"id": f"session-{day}", "status": "completed", "created_at": at(day), "updated_at": at(day)}
    filled.merge("booking_sessions", {**row, **fields})


def refill(filled: Filled, day: int, **fields: Any) -> None:
    """A task that is no wish for an appointment."""
    row = {"id": f"task-{day}", "created_at": at(day), "updated_at": at(day), "task_type": "rx_refill"}
    filled.merge("staff_tasks", {**row, "status": "pending", **fields})


def before(filled: Filled) -> None:
    filled.practice = STAGE
    reminder(filled, 1, patient_id="x")
    appointment(filled, 1, remote_patient_id="P-x")
    request(filled, 2, client_id="b")
    appointment(filled, 2, remote_client_id="R-b")
    appointment(filled, 3, remote_id="A-c")
    appointment(filled, 4, remote_client_id="R-nobody")
    client(filled, "e")
    appointment(filled, 5, remote_client_id="R-e")
    request(filled, 6)
    appointment(filled, 6)
    request(filled, 7)
    call(filled, 8, remote_client_id="R-g")
    client(filled, "h")
    call(filled, 9, client_id="h")
    call(filled, 10, client_id="i")
    refill(filled, 10, client_id="i")
    appointment(filled, 12)
    appointment(filled, 13, client_phone="+12125550177")
    reminder(filled, 15, remote_patient_id="P-y")
    refill(filled, 16, **FINAL)
    call(filled, 48)  # its fourteen days of silence end between the builds
    client(filled, "k")
    client(filled, "n")
    call(filled, 22, client_id="n", remote_client_id="R-n-7")
    call(filled, 17, client_id="l", remote_client_id="R-l-7")
    call(filled, 18, client_id="l", remote_client_id="R-l-7")


def after(filled: Filled) -> None:
    filled.practice = STAGE
    patient = {"patient_id": "x", "remote_patient_id": "P-x"}
    call(filled, 11, **patient, booking_intent=False)  # a call tells whose pet an appointment is for
    client(filled, "b")  # a client's record tells whose appointment it is, and so that outreach booked it
    session(filled, 3, remote_appointment_id="A-c")
    session(filled, 12, appointment_id="appointment-12")
    call(filled, 4, remote_client_id="R-nobody", outcome="appointment_booked", booked=True)
    request(filled, 5, client_id="e")
    event(filled, 6, names="appointment-6")
    event(filled, 7, names="appointment-unknown")
    client(filled, "g")  # and so whose call it was
    client(filled, "j", "+1 212 555-0177")  # and a telephone number whose appointment it is
    appointment(filled, 9, remote_client_id="R-h")  # of somebody who called, booked nobody knows how
    refill(filled, 10, client_id="i", status="completed", finalized_at=at(12), updated_at=at(12))  # followed up
    request(filled, 14, status="suppressed", outcome=None, suppression_reason="stopped", purpose="refill")
    filled.merge(MESSAGES, {"id": "message-14", "created_at": at(14), "status": "sent"})
    filled.merge("patients", {"id": "x", "client_id": "b", "name": "Rex", "species": "Dog"})
    appointment(filled, 15, remote_patient_id="P-y")
    refill(filled, 16)  # reopened,
    refill(filled, 16, **FINAL)  # and as it was
    call(
        filled, 19, client_id="k", remote_client_id="R-k-9"
    )  # an unheard-of server, which qualifies everybody's ids
    client(filled, "l")  # a server that is known
    call(filled, 20, client_id="m", remote_client_id="R-m-7")
    session(filled, 21, status="active", stage="started")  # two stages in doubt leave all without a place
    session(filled, 21, status="active", stage="waiting_room")
