"""The values that the contract lists for fields, told once for all tests that compare with them."""

from typing import Final

VALUES: Final[dict[str, dict[str, str]]] = {
    "phone_calls": {
        "direction": "inbound outbound",
        "state": "pending queued ringing in_progress completed failed no_answer busy voicemail canceled",
        "caller_type": "existing new unknown",
        "call_classification": (
            "scheduling prescription_refill medical_question billing records_request emergency callback"
            " general_inquiry price_shopping other"
        ),
        "outcome": (
            "appointment_booked appointment_rescheduled appointment_confirmed appointment_canceled"
            " callback_requested declined do_not_call no_answer voicemail forwarded transferred quick_abandoned"
            " abandoned abandoned_after_transfer dropped transfer_completed transfer_no_human"
            " transfer_caller_abandoned task_created resolved"
        ),
    },
    "booking_sessions": {"status": "active completed abandoned"},
    "appointments": {"status": "REQUESTED ACCEPTED CONFIRMED"},
    "ai_outbound": {
        "channel": "sms voice",
        "purpose": "scheduling callback_followup refill general",
        "status": "received queued in_progress completed suppressed failed",
        "outcome": "booked opted_out no_response undeliverable",
        "suppression_reason": (
            "recent_contact active_conversation sms_opted_out voice_not_supported notifications_disabled"
            " client_inactive recent_or_upcoming_appointment pet_deceased stopped"
        ),
    },
    "staff_tasks": {"task_type": "task rx_refill", "status": "pending completed canceled"},
    "messages": {
        "status": "sent delivered read failed suppressed",
        "status_reason": "opted_out blocked_number delivery_failed",
        "channel_requested": "auto rcs sms",
        "channel_used": "rcs sms",
    },
    "service_reminders": {"group_status": "completed partially_completed deleted incomplete"},
}
"""By list and field. Of the statuses of appointments these are the ones that can be given."""
