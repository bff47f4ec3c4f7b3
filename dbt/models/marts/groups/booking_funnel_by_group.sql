{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=[
        'group_name', 'day', 'referral_source', 'referral_campaign', 'referral_medium', 'client_type',
    ],
) }}
{%- if is_incremental() %}{{ set_scope(days_of_groups(ref('booking_sessions'))) }}{% endif %}

with sessions as (
    select * from {{ in_scope('(' ~ in_groups(ref('booking_sessions')) ~ ')', ['group_name', 'day']) }}
),

counted as (
    select
        group_name,
        day,
        referral_source,
        referral_campaign,
        referral_medium,
        client_type,
        {{ booking_funnel_measures() }}
    from sessions
    group by group_name, day, referral_source, referral_campaign, referral_medium, client_type
)

select
    group_name,
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
