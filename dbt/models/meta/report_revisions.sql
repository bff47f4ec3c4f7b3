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
        versions.practice_id,
        cast({{ local_time('versions.created_at', 'practices.time_zone') }} as date) as day,
        versions.valid_from,
        versions.valid_to,
        true as sessions,
        versions.status = 'completed' as completed,
        versions.status = 'abandoned' as abandoned,
        versions.status = 'active' as active,
        versions.has_appointment as with_appointment
    from {{ ref('stg_history__booking_sessions') }} as versions
    left join {{ ref('stg_control__practices') }} as practices
        on versions.practice_id = practices.practice_id
),

{{ restatements('booking_intent_daily', 'calls', ['calls', 'intent_calls', 'booked_calls']) }},

{{ restatements(
    'booking_funnel_daily', 'sessions', ['sessions', 'completed', 'abandoned', 'active', 'with_appointment']
) }}

select * from booking_intent_daily_revisions
union all
select * from booking_funnel_daily_revisions
