with counted as (
    select
        practice_id,
        day,
        direction,
        caller_type,
        call_classification,
        {{ booking_intent_measures() }}
    from {{ ref('phone_calls') }}
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
    missed_intent_calls,
    answered_calls,
    new_booking_intent_calls,
    new_booking_calls,
    {{ rate('new_booking_calls', 'new_booking_intent_calls') }} as new_booking_conversion_rate,
    missed_new_booking_calls
from counted
