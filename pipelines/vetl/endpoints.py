"""The lists of the platform: those that a sync reads, and those that webhooks fill.

A new list is its declaration and its line in `REGISTRY`.
"""

from vetl.core.endpoint import ByReference, DateWindows, Endpoint, FullScan, NewestFirst, Received, UpdatedWindows
from vetl.partner import models

PHONE_CALLS = Endpoint(
    name="phone_calls",
    path="phone_calls",
    table="phone_calls",
    record=models.CallRow,
    key=("call_date", "call_key"),
    strategy=DateWindows(),
)
"""Phone calls of the AI voice agent (contract: Phone calls)."""

BOOKING_SESSIONS = Endpoint(
    name="booking_sessions",
    path="booking_sessions",
    table="booking_sessions",
    record=models.BookingSession,
    strategy=UpdatedWindows(derived_from="active", final=("completed", "abandoned")),
)
"""Online booking sessions, which expire without a new `updated_at` (contract: Booking sessions)."""

APPOINTMENTS = Endpoint(
    name="appointments",
    path="appointments",
    table="appointments",
    record=models.Appointment,
    strategy=UpdatedWindows(),
    may_be_withdrawn=True,
)
"""Appointments. The contract marks this list as "proposed", so it may vanish (Appointments, Versioning)."""

AI_OUTBOUND = Endpoint(
    name="ai_outbound",
    path="ai_outbound/requests",
    table="ai_outbound_requests",
    record=models.OutboundRequest,
    strategy=NewestFirst(
        statuses=("received", "queued", "in_progress", "completed", "suppressed", "failed"),
        open_statuses=("received", "queued", "in_progress"),
    ),
)
"""AI outbound contact requests, most recent first (contract: AI outbound requests)."""

STAFF_TASKS = Endpoint(
    name="staff_tasks",
    path="staff_tasks",
    table="staff_tasks",
    record=models.StaffTask,
    strategy=FullScan(statuses=("pending", "completed", "canceled"), open_statuses=("pending",)),
)
"""Staff tasks. A final task can be reopened (contract: Staff tasks)."""

CLIENTS = Endpoint(
    name="clients",
    path="clients",
    table="clients",
    record=models.Client,
    strategy=ByReference(
        mentions=(
            ("phone_calls", "client_id"),
            ("ai_outbound_requests", "client_id"),
            ("staff_tasks", "client_id"),
        )
    ),
)
"""Clients, read by the ids that other rows mention (contract: Clients and patients)."""

PATIENTS = Endpoint(
    name="patients",
    path="patients",
    table="patients",
    record=models.Patient,
    strategy=ByReference(
        mentions=(
            ("phone_calls", "patient_id"),
            ("ai_outbound_requests", "patient_id"),
            ("staff_tasks", "patient_id"),
        )
    ),
)
"""Patients (pets), read by the ids that other rows mention (contract: Clients and patients)."""

REGISTRY: tuple[Endpoint, ...] = (
    PHONE_CALLS,
    BOOKING_SESSIONS,
    APPOINTMENTS,
    AI_OUTBOUND,
    STAFF_TASKS,
    CLIENTS,
    PATIENTS,
)
"""In the order of reading: lists that are read by id come after the lists that mention the ids."""

MESSAGE_EVENTS = Endpoint(
    name="message_events",
    path="webhooks/messages",
    table="message_events",
    record=models.MessageEvent,
    key=("message_id", "status"),
    strategy=Received(),
)
OUTREACH_EVENTS = Endpoint(
    name="outreach_events",
    path="webhooks/ai_outbound",
    table="outreach_events",
    record=models.OutreachEvent,
    key=("request_id",),
    strategy=Received(),
)
SERVICE_REMINDER_EVENTS = Endpoint(
    name="service_reminder_events",
    path="webhooks/service_reminders",
    table="service_reminder_events",
    record=models.ServiceReminderEvent,
    key=("id", "content_hash"),
    strategy=Received(),
)
MESSAGES = Endpoint(
    name="messages",
    path="messages",
    table="messages",
    record=models.Message,
    strategy=ByReference(mentions=(("message_events", "message_id"),)),
)

RECEIVED: tuple[Endpoint, ...] = (MESSAGE_EVENTS, OUTREACH_EVENTS, SERVICE_REMINDER_EVENTS, MESSAGES)
"""The raw tables of webhook deliveries, and messages, which are read by the ids of deliveries: no sync reads them.
Every warehouse has their tables, so that the marts can always be built."""


def by_name(name: str) -> Endpoint:
    """Return the endpoint with this name. Raise `KeyError` if no endpoint has this name."""
    return {endpoint.name: endpoint for endpoint in REGISTRY}[name]
