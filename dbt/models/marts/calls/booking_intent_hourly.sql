with counted as (
    select
        practice_id,
        cast({{ iso_weekday('day') }} as int) as weekday,
        cast(extract(hour from called_at_local) as int) as hour,
        {{ booking_intent_measures() }},
        count(*) filter (where direction = 'inbound' and not is_answered) as unanswered_inbound_calls,
        count(*) filter (where direction = 'inbound' and is_missed_new_booking) as missed_bookable_inbound_calls
    from {{ ref('phone_calls') }}
    group by practice_id, cast({{ iso_weekday('day') }} as int), cast(extract(hour from called_at_local) as int)
),

hours as (
    select * from {{ ref('int_weekday_hours') }}
)

select
    coalesce(hours.practice_id, counted.practice_id) as practice_id,
    coalesce(hours.weekday, counted.weekday) as weekday,
    coalesce(hours.hour, counted.hour) as hour,
    {%- for name in ['calls', 'intent_calls', 'booked_calls', 'intent_booked_calls'] %}
    coalesce(counted.{{ name }}, 0) as {{ name }},
    {%- endfor %}
    {{ rate('counted.intent_calls', 'counted.calls') }} as intent_rate,
    {{ rate('counted.intent_booked_calls', 'counted.intent_calls') }} as intent_conversion_rate,
    {%- for name in [
        'missed_intent_calls', 'answered_calls', 'new_booking_intent_calls', 'new_booking_calls',
        'missed_new_booking_calls', 'unanswered_inbound_calls', 'missed_bookable_inbound_calls',
    ] %}
    coalesce(counted.{{ name }}, 0) as {{ name }},
    {%- endfor %}
    coalesce(hours.hours, 0) as hours
from hours
full outer join counted
    on
        hours.practice_id = counted.practice_id
        and hours.weekday = counted.weekday
        and hours.hour = counted.hour
