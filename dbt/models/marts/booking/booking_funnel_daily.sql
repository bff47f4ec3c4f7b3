with counted as (
    select
        practice_id,
        day,
        referral_source,
        referral_campaign,
        referral_medium,
        client_type,
        count(*) as sessions,
        count(*) filter (where status = 'completed') as completed,
        count(*) filter (where status = 'abandoned') as abandoned,
        count(*) filter (where status = 'active') as active,
        count(*) filter (where has_appointment) as with_appointment,
        median(minutes_to_complete) as median_minutes_to_complete
    from {{ ref('booking_sessions') }}
    group by practice_id, day, referral_source, referral_campaign, referral_medium, client_type
)

select
    practice_id,
    day,
    referral_source,
    referral_campaign,
    referral_medium,
    client_type,
    sessions,
    completed,
    abandoned,
    active,
    with_appointment,
    {{ rate('completed', 'sessions') }} as completion_rate,
    median_minutes_to_complete
from counted
