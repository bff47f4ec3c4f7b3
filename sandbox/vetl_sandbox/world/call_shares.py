"""The shares of outcomes and of subjects of calls."""

from typing import Final

DIRECTIONS: Final = {"inbound": 0.84, "outbound": 0.16}
INBOUND_ENDS: Final = {
    "completed": 0.86,
    "no_answer": 0.04,
    "voicemail": 0.04,
    "busy": 0.02,
    "failed": 0.02,
    "canceled": 0.02,
}
OUTBOUND_ENDS: Final = {
    "completed": 0.55,
    "no_answer": 0.2,
    "voicemail": 0.15,
    "busy": 0.04,
    "failed": 0.04,
    "canceled": 0.02,
}
BROKEN_ENDS: Final = {"completed": 0.1, "failed": 0.7, "no_answer": 0.2}
SUBJECTS: Final = {
    "scheduling": 0.38,
    "prescription_refill": 0.12,
    "medical_question": 0.13,
    "billing": 0.06,
    "records_request": 0.05,
    "emergency": 0.03,
    "callback": 0.05,
    "general_inquiry": 0.11,
    "price_shopping": 0.05,
    "other": 0.02,
}
SCHEDULING_OUTCOMES: Final = {
    "appointment_booked": 0.42,
    "appointment_rescheduled": 0.11,
    "appointment_confirmed": 0.12,
    "appointment_canceled": 0.07,
    "callback_requested": 0.08,
    "declined": 0.07,
    "transferred": 0.04,
    "abandoned": 0.04,
    "quick_abandoned": 0.03,
    "resolved": 0.02,
}
OTHER_OUTCOMES: Final = {
    "resolved": 0.36,
    "task_created": 0.16,
    "callback_requested": 0.09,
    "forwarded": 0.05,
    "transferred": 0.06,
    "transfer_completed": 0.08,
    "transfer_no_human": 0.03,
    "transfer_caller_abandoned": 0.03,
    "abandoned_after_transfer": 0.02,
    "abandoned": 0.03,
    "quick_abandoned": 0.03,
    "declined": 0.02,
    "do_not_call": 0.01,
    "appointment_booked": 0.03,
}
LATER_OUTCOMES: Final = {
    "appointment_booked": 0.35,
    "resolved": 0.3,
    "declined": 0.15,
    "task_created": 0.1,
    "appointment_confirmed": 0.1,
}
SENTIMENTS: Final = {
    "positive": 0.35,
    "neutral": 0.45,
    "negative": 0.09,
    "mixed": 0.06,
    "very_negative": 0.02,
    None: 0.03,
}
