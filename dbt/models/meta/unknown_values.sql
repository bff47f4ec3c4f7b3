with seen as (
    {% for mart, field, values in [
        ('phone_calls', 'direction', ['inbound', 'outbound']),
        ('phone_calls', 'state', [
            'pending', 'queued', 'ringing', 'in_progress', 'completed', 'failed', 'no_answer', 'busy', 'voicemail',
            'canceled',
        ]),
        ('phone_calls', 'caller_type', ['existing', 'new', 'unknown']),
        ('phone_calls', 'call_classification', [
            'scheduling', 'prescription_refill', 'medical_question', 'billing', 'records_request', 'emergency',
            'callback', 'general_inquiry', 'price_shopping', 'other',
        ]),
        ('phone_calls', 'outcome', [
            'appointment_booked', 'appointment_rescheduled', 'appointment_confirmed', 'appointment_canceled',
            'callback_requested', 'declined', 'do_not_call', 'no_answer', 'voicemail', 'forwarded', 'transferred',
            'quick_abandoned', 'abandoned', 'abandoned_after_transfer', 'dropped', 'transfer_completed',
            'transfer_no_human', 'transfer_caller_abandoned', 'task_created', 'resolved',
        ]),
        ('phone_calls', 'customer_sentiment', []),
        ('booking_sessions', 'status', ['active', 'completed', 'abandoned']),
        ('booking_sessions', 'stage', ['started']),
        ('booking_sessions', 'client_type', []),
        ('appointments', 'status', ['REQUESTED', 'ACCEPTED', 'CONFIRMED']),
        ('appointments', 'client_type', []),
        ('outreach_requests', 'channel', ['sms', 'voice']),
        ('outreach_requests', 'purpose', ['scheduling', 'callback_followup', 'refill', 'general']),
        ('outreach_requests', 'status', ['received', 'queued', 'in_progress', 'completed', 'suppressed', 'failed']),
        ('outreach_requests', 'outcome', ['booked', 'opted_out', 'no_response', 'undeliverable']),
        ('outreach_requests', 'suppression_reason', [
            'recent_contact', 'active_conversation', 'sms_opted_out', 'voice_not_supported',
            'notifications_disabled', 'client_inactive', 'recent_or_upcoming_appointment', 'pet_deceased', 'stopped',
        ]),
        ('staff_tasks', 'task_type', ['task', 'rx_refill']),
        ('staff_tasks', 'status', ['pending', 'completed', 'canceled']),
        ('messages', 'status', ['sent', 'delivered', 'read', 'failed', 'suppressed']),
        ('messages', 'status_reason', ['opted_out', 'blocked_number', 'delivery_failed']),
        ('messages', 'channel_requested', ['auto', 'rcs', 'sms']),
        ('messages', 'channel_used', ['rcs', 'sms']),
        ('service_reminders', 'status', ['completed', 'partially_completed', 'deleted', 'incomplete']),
    ] -%}
    select
        practice_id,
        '{{ mart }}' as mart,
        '{{ field }}' as field,
        {{ field }} as unknown_value,
        count(*) as occurrences
    from {{ ref(mart) }}
    where {{ is_unlisted(field, values) }}
    group by practice_id, {{ field }}
    {{ 'union all' if not loop.last }}
    {% endfor %}
)

select * from seen
