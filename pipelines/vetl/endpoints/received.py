"""Raw tables that are filled by webhook deliveries, and messages, which are read by the ids of deliveries."""

from vetl.core.endpoint import ByReference, Endpoint, Received
from vetl.partner.models import Message, MessageEvent, OutreachEvent, ServiceReminderEvent

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
"""No sync reads these lists. Every warehouse has their tables, so that the marts can always be built."""
