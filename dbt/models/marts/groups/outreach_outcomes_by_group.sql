{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['group_name', 'day', 'purpose', 'channel'],
) }}
{%- if is_incremental() %}{{ set_scope(days_of_groups(ref('outreach_requests'))) }}{% endif %}

with requests as (
    select * from {{ in_scope('(' ~ in_groups(ref('outreach_requests')) ~ ')', ['group_name', 'day']) }}
),

counted as (
    select
        group_name,
        day,
        purpose,
        channel,
        {{ outreach_outcome_measures() }}
    from requests
    group by group_name, day, purpose, channel
)

select
    group_name,
    day,
    purpose,
    channel,
    requests,
    contacted,
    booked,
    opted_out,
    no_response,
    undeliverable,
    suppressed,
    failed_undispatched,
    open,
    {{ rate('booked', 'contacted') }} as booked_rate,
    median_hours_to_contact,
    median_hours_to_outcome,
    is_mature
from counted
