"""The rows of webhooks (contract: Message, Events)."""

from typing import Annotated, Any

from vetl.core.endpoint import Instant, Record, Text, known

MESSAGE_STATUSES = known("sent", "delivered", "read", "failed", "suppressed")
REQUESTED_CHANNELS = known("auto", "rcs", "sms")
USED_CHANNELS = known("rcs", "sms")


class Message(Record):
    """Contract: Message. There is no list of messages; their ids come from webhooks."""

    id: Text
    reference_id: Text | None = None
    status: Annotated[Text | None, MESSAGE_STATUSES] = None
    status_reason: Text | None = None
    channel_requested: Annotated[Text | None, REQUESTED_CHANNELS] = None
    channel_used: Annotated[Text | None, USED_CHANNELS] = None
    client_id: Text | None = None
    error_code: Text | None = None
    error_message: Text | None = None
    sent_at: Instant | None = None
    delivered_at: Instant | None = None
    read_at: Instant | None = None
    failed_at: Instant | None = None
    created_at: Instant | None = None


class MessageEvent(Record):
    """Contract: Message status webhook. `timestamp` is the send time, and `body` is the whole payload."""

    message_id: Text
    status: Annotated[Text, MESSAGE_STATUSES]
    event_id: Text | None = None
    event: Annotated[
        Text | None,
        known("message.sent", "message.delivered", "message.read", "message.failed", "message.suppressed"),
    ] = None
    occurred_at: Instant | None = None
    reference_id: Text | None = None
    status_reason: Text | None = None
    channel_requested: Annotated[Text | None, REQUESTED_CHANNELS] = None
    channel_used: Annotated[Text | None, USED_CHANNELS] = None
    client_id: Text | None = None
    error_code: Text | None = None
    error_message: Text | None = None
    sent_at: Instant | None = None
    delivered_at: Instant | None = None
    read_at: Instant | None = None
    failed_at: Instant | None = None
    created_at: Instant | None = None
    timestamp: Instant | None = None
    body: dict[str, Any]
    received_at: Instant


class OutreachEvent(Record):
    """Contract: AI outbound outcome webhook. `appointment_id` is only in `outcome_detail`."""

    request_id: Text
    event: Annotated[
        Text | None, known("ai_outbound.completed", "ai_outbound.suppressed", "ai_outbound.failed")
    ] = None
    partner_request_id: Text | None = None
    channel: Annotated[Text | None, known("sms", "voice")] = None
    purpose: Annotated[Text | None, known("scheduling", "callback_followup", "refill", "general")] = None
    status: Annotated[Text | None, known("completed", "suppressed", "failed")] = None
    outcome: Annotated[Text | None, known("booked", "opted_out", "no_response", "undeliverable")] = None
    outcome_detail: dict[str, Any] | None = None
    appointment_id: Text | None = None
    suppression_reason: Text | None = None
    error_message: Text | None = None
    client_id: Text | None = None
    patient_id: Text | None = None
    contacted_at: Instant | None = None
    completed_at: Instant | None = None
    timestamp: Instant | None = None
    body: dict[str, Any]
    received_at: Instant


class ServiceReminderEvent(Record):
    """Contract: Service reminder webhook. `id` is the id of a group, which is sent again if its content changes.

    The contract shows the send time, `timestamp`, only for the other webhooks.
    """

    id: Text
    content_hash: Text
    practice_name: Text | None = None
    client_id: Text | None = None
    remote_client_id: Text | None = None
    patient_id: Text | None = None
    remote_patient_id: Text | None = None
    notification_rule_name: Text | None = None
    due_at: Instant | None = None
    reminders: list[Any] | None = None
    group_status: Annotated[Text | None, known("completed", "partially_completed", "deleted", "incomplete")] = None
    custom_fields: dict[str, Any] | None = None
    timestamp: Instant | None = None
    body: dict[str, Any]
    received_at: Instant
