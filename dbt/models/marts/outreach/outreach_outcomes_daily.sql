with counted as (
    select
        practice_id,
        day,
        purpose,
        channel,
        {{ outreach_outcome_measures() }}
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
