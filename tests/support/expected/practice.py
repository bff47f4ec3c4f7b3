"""The marts of practices, their calendar, and the values that the interface does not list."""

from collections import Counter
from datetime import date, timedelta
from typing import Any

from support.cells import hours
from support.expected.rows import latest_reminders
from support.mart_inputs import Expected, Known
from support.zones import day_after, midnight, on_the_wall

LISTED = {
    ("phone_calls", "direction"): "inbound outbound",
    ("phone_calls", "state"): (
        "pending queued ringing in_progress completed failed no_answer busy voicemail canceled"
    ),
    ("phone_calls", "caller_type"): "existing new unknown",
    ("phone_calls", "call_classification"): (
        "scheduling prescription_refill medical_question billing records_request emergency callback"
        " general_inquiry price_shopping other"
    ),
    ("phone_calls", "outcome"): (
        "appointment_booked appointment_rescheduled appointment_confirmed appointment_canceled callback_requested"
        " declined do_not_call no_answer voicemail forwarded transferred quick_abandoned abandoned"
        " abandoned_after_transfer dropped transfer_completed transfer_no_human transfer_caller_abandoned"
        " task_created resolved"
    ),
    ("phone_calls", "customer_sentiment"): "",
    ("booking_sessions", "status"): "active completed abandoned",
    ("booking_sessions", "stage"): "started",
    ("booking_sessions", "client_type"): "",
    ("appointments", "status"): "REQUESTED ACCEPTED CONFIRMED",
    ("appointments", "client_type"): "",
    ("outreach_requests", "channel"): "sms voice",
    ("outreach_requests", "purpose"): "scheduling callback_followup refill general",
    ("outreach_requests", "status"): "received queued in_progress completed suppressed failed",
    ("outreach_requests", "outcome"): "booked opted_out no_response undeliverable",
    ("outreach_requests", "suppression_reason"): (
        "recent_contact active_conversation sms_opted_out voice_not_supported notifications_disabled"
        " client_inactive recent_or_upcoming_appointment pet_deceased stopped"
    ),
    ("staff_tasks", "task_type"): "task rx_refill",
    ("staff_tasks", "status"): "pending completed canceled",
    ("messages", "status"): "sent delivered read failed suppressed",
    ("messages", "status_reason"): "opted_out blocked_number delivery_failed",
    ("messages", "channel_requested"): "auto rcs sms",
    ("messages", "channel_used"): "rcs sms",
    ("service_reminders", "status"): "completed partially_completed deleted incomplete",
}
"""The values that the interface lists or shows, by mart and column; none if it shows none."""


def unknown_values(source: Known) -> Expected:
    occurrences = Counter[tuple[Any, ...]]()
    for (mart, field), listed in LISTED.items():
        table = "ai_outbound_requests" if mart == "outreach_requests" else mart
        reminders = mart == "service_reminders"
        for row in latest_reminders(source) if reminders else source.rows(table):
            value = row.get("group_status" if reminders else field)
            if value and value not in listed.split():
                occurrences[row["practice_id"], mart, field, value] += 1
    return {key: (times,) for key, times in occurrences.items()}


def practices(source: Known) -> Expected:
    expected: dict[Any, dict[str, Any]] = {}
    for one in source.practices:
        local = on_the_wall(source.as_of(one.id), one.time_zone)
        expected[(one.id,)] = {
            **{name: getattr(one, name) for name in ("name", "time_zone", "history_start")},
            "group_name": one.group,
            "as_of": source.as_of(one.id),
            "as_of_local": local,
            "today": local and local.date(),
        }
    return expected


def practice_days(source: Known) -> Expected:
    """Return every day once, those of spring and autumn included."""
    expected: dict[Any, tuple[Any, ...]] = {}
    for practice in source.practices:
        day, now = practice.history_start, source.as_of(practice.id)
        today = on_the_wall(now, practice.time_zone)
        while now and today and day <= today.date():
            start, end = (midnight(at, practice.time_zone) for at in (day, day_after(day)))
            monday = day - timedelta(days=day.isoweekday() - 1)
            first = date(day.year, day.month, 1)
            since = now - end
            final, old = since >= timedelta(days=14), since >= timedelta(days=7)
            times = (hours(start, end), end <= now, final, old, start, end)
            expected[practice.id, day] = (day.isoweekday(), monday, first, *times)
            day = day_after(day)
    return expected
