-- A day that is not over has no report.
with reports as (
    select
        practice_id,
        day,
        ends_at + interval 24 hours as reported_at
    from {{ ref('practice_days') }}
    where is_over
),

calls as (
    select
        practice_id,
        day,
        valid_from,
        valid_to,
        true as calls,
        booking_intent as intent_calls,
        booked as booked_calls
    from {{ ref('stg_history__phone_calls') }}
),

sessions as (
    select
        practice_id,
        day,
        valid_from,
        valid_to,
        true as sessions,
        status = 'completed' as completed,
        status = 'abandoned' as abandoned,
        status = 'active' as active,
        has_appointment as with_appointment
    from {{ ref('stg_history__booking_sessions') }}
),

{{ restatements('booking_intent_daily', 'calls', ['calls', 'intent_calls', 'booked_calls']) }},

{{ restatements(
    'booking_funnel_daily', 'sessions', ['sessions', 'completed', 'abandoned', 'active', 'with_appointment']
) }}

select * from booking_intent_daily_revisions
union all
select * from booking_funnel_daily_revisions
