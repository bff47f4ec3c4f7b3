with counted as (
    select
        practice_id,
        day,
        referral_source,
        referral_campaign,
        referral_medium,
        client_type,
        {{ booking_funnel_measures() }}
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
