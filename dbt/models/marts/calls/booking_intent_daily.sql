{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'day', 'direction', 'caller_type', 'call_classification'],
) }}
{%- if is_incremental() %}{{ set_scope('select practice_id, day from ' ~ changed(ref('phone_calls'))) }}{% endif %}

with counted as (
    select
        practice_id,
        day,
        direction,
        caller_type,
        call_classification,
        {{ booking_intent_measures() }}
    from {{ in_scope(ref('phone_calls'), ['practice_id', 'day']) }}
    group by practice_id, day, direction, caller_type, call_classification
)

select
    practice_id,
    day,
    direction,
    caller_type,
    call_classification,
    calls,
    intent_calls,
    booked_calls,
    intent_booked_calls,
    {{ rate('intent_calls', 'calls') }} as intent_rate,
    {{ rate('intent_booked_calls', 'intent_calls') }} as intent_conversion_rate,
    missed_intent_calls
from counted
