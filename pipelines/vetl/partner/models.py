"""The resources and webhooks of the partner interface as rows (contract: Resources and their fields, Events)."""

from datetime import date, datetime
from typing import Annotated, Any

from vetl.core.endpoint import Instant, Record, Text, known


class Patient(Record):
    """Contract: Client and patient."""

    id: Text
    name: Text | None = None
    client_id: Text | None = None
    species: Text | None = None
    breed: Text | None = None


class Client(Record):
    """Contract: Client and patient. `patients` is kept as JSON."""

    id: Text
    name: Text | None = None
    email: Text | None = None
    phone: Text | None = None
    patients: list[Any] | None = None
    remote_id: Text | None = None


class StaffTask(Record):
    """Contract: Staff task."""

    id: Text
    task_type: Annotated[Text | None, known("task", "rx_refill")] = None
    status: Annotated[Text | None, known("pending", "completed", "canceled")] = None
    title: Text | None = None
    description: Text | None = None
    client_id: Text | None = None
    patient_id: Text | None = None
    cancellation_allowed: bool | None = None
    override_completion_action_text: Text | None = None
    reference_time_at: Instant | None = None
    finalized_at: Instant | None = None
    created_at: Instant | None = None
    updated_at: Instant | None = None


class Appointment(Record):
    """Contract: Appointment. `status` and `client_type` have values that the contract does not show."""

    id: Text
    remote_id: Text | None = None
    remote_client_id: Text | None = None
    remote_patient_id: Text | None = None
    status: Text | None = None
    booking_date: Instant | None = None
    end_date: Instant | None = None
    created_at: Instant | None = None
    updated_at: Instant | None = None
    referral_source: Text | None = None
    referral_campaign: Text | None = None
    referral_medium: Text | None = None
    client_first_name: Text | None = None
    client_last_name: Text | None = None
    client_email: Text | None = None
    client_phone: Text | None = None
    client_type: Text | None = None
    patient_name: Text | None = None


class BookingSession(Record):
    """Contract: Booking session. `status` is derived: it changes without `updated_at` moving."""

    id: Text
    status: Annotated[Text | None, known("active", "completed", "abandoned")] = None
    stage: Text | None = None
    client_type: Text | None = None
    appointment_id: Text | None = None
    remote_appointment_id: Text | None = None
    referral_source: Text | None = None
    referral_campaign: Text | None = None
    referral_medium: Text | None = None
    created_at: Instant | None = None
    updated_at: Instant | None = None
    last_activity_at: Instant | None = None


class OutboundRequest(Record):
    """Contract: AI outbound request. The list of suppression reasons is open-ended."""

    id: Text
    partner_request_id: Text | None = None
    channel: Annotated[Text | None, known("sms", "voice")] = None
    purpose: Annotated[Text | None, known("scheduling", "callback_followup", "refill", "general")] = None
    status: Annotated[
        Text | None, known("received", "queued", "in_progress", "completed", "suppressed", "failed")
    ] = None
    outcome: Annotated[Text | None, known("booked", "opted_out", "no_response", "undeliverable")] = None
    suppression_reason: Annotated[
        Text | None,
        known(
            "recent_contact",
            "active_conversation",
            "sms_opted_out",
            "voice_not_supported",
            "notifications_disabled",
            "client_inactive",
            "recent_or_upcoming_appointment",
            "pet_deceased",
            "stopped",
        ),
    ] = None
    error_message: Text | None = None
    client_id: Text | None = None
    patient_id: Text | None = None
    contact_number: Text | None = None
    context: Text | None = None
    contacted_at: Instant | None = None
    completed_at: Instant | None = None
    created_at: Instant | None = None


DIRECTIONS = known("inbound", "outbound")
CALL_STATES = known(
    "pending", "queued", "ringing", "in_progress", "completed", "failed", "no_answer", "busy", "voicemail",
    "canceled",
)  # fmt: skip
CALLER_TYPES = known("existing", "new", "unknown")
CALL_CLASSIFICATIONS = known(
    "scheduling", "prescription_refill", "medical_question", "billing", "records_request", "emergency",
    "callback", "general_inquiry", "price_shopping", "other",
)  # fmt: skip
CALL_OUTCOMES = known(
    "appointment_booked", "appointment_rescheduled", "appointment_confirmed", "appointment_canceled",
    "callback_requested", "declined", "do_not_call", "no_answer", "voicemail", "forwarded", "transferred",
    "quick_abandoned", "abandoned", "abandoned_after_transfer", "dropped", "transfer_completed",
    "transfer_no_human", "transfer_caller_abandoned", "task_created", "resolved",
)  # fmt: skip


class PhoneCall(Record):
    """Contract: Phone call record, as the JSON list and the get endpoint show it."""

    id: Text
    created_at: Instant | None = None
    practice_name: Text | None = None
    direction: Annotated[Text | None, DIRECTIONS] = None
    state: Annotated[Text | None, CALL_STATES] = None
    caller_type: Annotated[Text | None, CALLER_TYPES] = None
    client_id: Text | None = None
    remote_client_id: Text | None = None
    client_name: Text | None = None
    patient_id: Text | None = None
    remote_patient_id: Text | None = None
    patient_name: Text | None = None
    phone_number: Text | None = None
    call_classification: Annotated[Text | None, CALL_CLASSIFICATIONS] = None
    summary: Text | None = None
    customer_sentiment: Text | None = None
    outcome: Annotated[Text | None, CALL_OUTCOMES] = None
    booked: bool | None = None
    booking_intent: bool | None = None
    duration_seconds: int | None = None


class CallRow(Record):
    """One row of `raw.phone_calls`: the columns of the CSV, and those that only the JSON list has.

    `called_at_local` is the CSV's Date (practice-local, to the minute), `called_at` the same minute as an
    instant; `id` to `remote_patient_id` come from the JSON list and are null until it is read.
    """

    call_date: date
    call_key: str
    called_at_local: datetime
    called_at: Instant
    practice: str | None = None
    direction: Annotated[str | None, DIRECTIONS] = None
    state: Annotated[str | None, CALL_STATES] = None
    caller_type: Annotated[str | None, CALLER_TYPES] = None
    client_name: str | None = None
    patient_name: str | None = None
    phone_number: str | None = None
    call_classification: Annotated[str | None, CALL_CLASSIFICATIONS] = None
    booking_intent: bool | None = None
    summary: str | None = None
    customer_sentiment: str | None = None
    outcome: Annotated[str | None, CALL_OUTCOMES] = None
    booked: bool | None = None
    duration_seconds: int | None = None
    id: str | None = None
    created_at: Instant | None = None
    client_id: str | None = None
    remote_client_id: str | None = None
    patient_id: str | None = None
    remote_patient_id: str | None = None


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
