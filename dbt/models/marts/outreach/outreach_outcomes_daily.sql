{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'day', 'purpose', 'channel'],
) }}
{%- if is_incremental() %}
{{- set_scope('select practice_id, day from ' ~ changed(ref('outreach_requests'))) }}
{%- endif %}

with counted as (
    select
        practice_id,
        day,
        purpose,
        channel,
        {{ outreach_outcome_measures() }}
    from {{ in_scope(ref('outreach_requests'), ['practice_id', 'day']) }}
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
