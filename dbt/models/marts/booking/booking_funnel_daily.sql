{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=[
        'practice_id', 'day', 'referral_source', 'referral_campaign', 'referral_medium', 'client_type',
    ],
) }}
{%- if is_incremental() %}{{ set_scope('select practice_id, day from ' ~ changed(ref('booking_sessions'))) }}{% endif %}

with counted as (
    select
        practice_id,
        day,
        referral_source,
        referral_campaign,
        referral_medium,
        client_type,
        {{ booking_funnel_measures() }}
    from {{ in_scope(ref('booking_sessions'), ['practice_id', 'day']) }}
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
