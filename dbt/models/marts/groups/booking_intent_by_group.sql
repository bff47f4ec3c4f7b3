{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['group_name', 'day', 'direction', 'caller_type', 'call_classification'],
) }}
{%- if is_incremental() %}{{ set_scope(days_of_groups(ref('booking_intent_daily'))) }}{% endif %}

with days as (
    select * from {{ in_scope('(' ~ in_groups(ref('booking_intent_daily')) ~ ')', ['group_name', 'day']) }}
),

added as (
    select
        group_name,
        day,
        direction,
        caller_type,
        call_classification,
        {{ total('calls') }} as calls,
        {{ total('intent_calls') }} as intent_calls,
        {{ total('booked_calls') }} as booked_calls,
        {{ total('intent_booked_calls') }} as intent_booked_calls,
        {{ total('missed_intent_calls') }} as missed_intent_calls
    from days
    group by group_name, day, direction, caller_type, call_classification
)

select
    group_name,
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
from added
