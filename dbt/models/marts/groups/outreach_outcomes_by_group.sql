with requests as (
    {{ in_groups(ref('outreach_requests')) }}
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
