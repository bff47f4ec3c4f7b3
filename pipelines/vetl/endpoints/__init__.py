"""The registry of all synced lists. A new list is a file here, its import, and a line in the registry below."""

from vetl.core.endpoint import ByReference, DateWindows, Endpoint, FullScan, NewestFirst, UpdatedWindows
from vetl.partner.models import Appointment, BookingSession, CallRow, Client, OutboundRequest, Patient, StaffTask

PHONE_CALLS = Endpoint(
    name="phone_calls",
    path="phone_calls",
    table="phone_calls",
    record=CallRow,
    key=("call_date", "call_key"),
    strategy=DateWindows(),
)
"""Phone calls of the AI voice agent (contract: Phone calls)."""
BOOKING_SESSIONS = Endpoint(
    name="booking_sessions",
    path="booking_sessions",
    table="booking_sessions",
    record=BookingSession,
    strategy=UpdatedWindows(derived_from="active", final=("completed", "abandoned")),
)
"""Online booking sessions, which expire without a new `updated_at` (contract: Booking sessions)."""
APPOINTMENTS = Endpoint(
    name="appointments",
    path="appointments",
    table="appointments",
    record=Appointment,
    strategy=UpdatedWindows(),
    may_be_withdrawn=True,
)
"""Appointments. The contract marks this list as "proposed", so it may vanish (Appointments, Versioning)."""
AI_OUTBOUND = Endpoint(
    name="ai_outbound",
    path="ai_outbound/requests",
    table="ai_outbound_requests",
    record=OutboundRequest,
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
    record=StaffTask,
    strategy=FullScan(statuses=("pending", "completed", "canceled"), open_statuses=("pending",)),
)
"""Staff tasks. A final task can be reopened (contract: Staff tasks)."""
CLIENTS = Endpoint(
    name="clients",
    path="clients",
    table="clients",
    record=Client,
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
    record=Patient,
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


def by_name(name: str) -> Endpoint:
    """Return the endpoint with this name.

    Raises:
        KeyError: no endpoint has this name.
    """
    return {endpoint.name: endpoint for endpoint in REGISTRY}[name]
