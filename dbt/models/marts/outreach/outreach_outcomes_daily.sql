with counted as (
    select
        practice_id,
        day,
        purpose,
        channel,
        count(*) as requests,
        count(*) filter (where is_contacted) as contacted,
        count(*) filter (where outcome = 'booked') as booked,
        count(*) filter (where outcome = 'opted_out') as opted_out,
        count(*) filter (where outcome = 'no_response') as no_response,
        count(*) filter (where outcome = 'undeliverable') as undeliverable,
        count(*) filter (where status = 'suppressed') as suppressed,
        count(*) filter (where is_failed_undispatched) as failed_undispatched,
        count(*) filter (where is_open) as open,
        median(hours_to_contact) as median_hours_to_contact,
        median(hours_to_outcome) as median_hours_to_outcome,
        bool_and(is_mature) as is_mature
    from {{ ref('outreach_requests') }}
    group by practice_id, day, purpose, channel
)

select
    practice_id,
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
