with counted as (
    select * from {{ ref('int_booking_intent_hours') }}
),

hours as (
    select * from {{ ref('int_weekday_hours') }}
)

select
    coalesce(hours.practice_id, counted.practice_id) as practice_id,
    coalesce(hours.weekday, counted.weekday) as weekday,
    coalesce(hours.hour, counted.hour) as hour,
    coalesce(counted.calls, 0) as calls,
    coalesce(counted.intent_calls, 0) as intent_calls,
    coalesce(counted.booked_calls, 0) as booked_calls,
    coalesce(counted.intent_booked_calls, 0) as intent_booked_calls,
    {{ rate('counted.intent_calls', 'counted.calls') }} as intent_rate,
    {{ rate('counted.intent_booked_calls', 'counted.intent_calls') }} as intent_conversion_rate,
    coalesce(counted.missed_intent_calls, 0) as missed_intent_calls,
    coalesce(hours.hours, 0) as hours
from hours
full outer join counted
    on
        hours.practice_id = counted.practice_id
        and hours.weekday = counted.weekday
        and hours.hour = counted.hour
