"""The registry of all lists: those that a sync reads, one file each, and those that webhooks fill.

A new list is one file here and one line below.
"""

from vetl.core.endpoint import ByReference, Endpoint, Received
from vetl.endpoints.ai_outbound import AI_OUTBOUND
from vetl.endpoints.appointments import APPOINTMENTS
from vetl.endpoints.booking_sessions import BOOKING_SESSIONS
from vetl.endpoints.clients import CLIENTS
from vetl.endpoints.patients import PATIENTS
from vetl.endpoints.phone_calls import PHONE_CALLS
from vetl.endpoints.staff_tasks import STAFF_TASKS
from vetl.partner.models import Message, MessageEvent, OutreachEvent, ServiceReminderEvent

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
    record=MessageEvent,
    key=("message_id", "status"),
    strategy=Received(),
)
OUTREACH_EVENTS = Endpoint(
    name="outreach_events",
    path="webhooks/ai_outbound",
    table="outreach_events",
    record=OutreachEvent,
    key=("request_id",),
    strategy=Received(),
)
SERVICE_REMINDER_EVENTS = Endpoint(
    name="service_reminder_events",
    path="webhooks/service_reminders",
    table="service_reminder_events",
    record=ServiceReminderEvent,
    key=("id", "content_hash"),
    strategy=Received(),
)
MESSAGES = Endpoint(
    name="messages",
    path="messages",
    table="messages",
    record=Message,
    strategy=ByReference(mentions=(("message_events", "message_id"),)),
)

RECEIVED: tuple[Endpoint, ...] = (MESSAGE_EVENTS, OUTREACH_EVENTS, SERVICE_REMINDER_EVENTS, MESSAGES)
"""The raw tables of webhook deliveries, and messages, which are read by the ids of deliveries: no sync reads them.
Every warehouse has their tables, so that the marts can always be built."""


def by_name(name: str) -> Endpoint:
    """Return the endpoint with this name. Raise `KeyError` if no endpoint has this name."""
    return {endpoint.name: endpoint for endpoint in REGISTRY}[name]
