with first_calls as (
    select
        practice_id,
        min(called_at) as first_at
    from {{ ref('stg_partner__phone_calls') }}
    group by practice_id
),

practices as (
    select * from {{ ref('stg_control__practices') }}
),

clock as (
    select * from {{ ref('int_source_clock') }}
),

-- The hour begins by the wall clock: in some zones in the middle of an hour of UTC.
begun as (
    select
        practices.practice_id,
        practices.time_zone,
        first_calls.first_at
        - extract(minute from {{ local_time('first_calls.first_at', 'practices.time_zone') }}) * interval 1 minute
            as first_hour
    from practices
    inner join first_calls
        on practices.practice_id = first_calls.practice_id
),

-- Real hours, one after the other: an hour that the wall clock skips has none, an hour that it repeats has
-- two.
begun_hours as (
    select
        begun.practice_id,
        begun.time_zone,
        {{ each_hour('begun.first_hour', 'clock.source_clock') }} as started_at
    from begun
    cross join clock
),

on_the_wall as (
    select
        practice_id,
        {{ local_time('started_at', 'time_zone') }} as started_at_local
    from begun_hours
),

named as (
    select
        practice_id,
        cast({{ iso_weekday('started_at_local') }} as int) as weekday,
        cast(extract(hour from started_at_local) as int) as hour
    from on_the_wall
),

hours as (
    select
        practice_id,
        weekday,
        hour,
        count(*) as hours
    from named
    group by practice_id, weekday, hour
),

counted as (
    select
        practice_id,
        cast({{ iso_weekday('day') }} as int) as weekday,
        cast(extract(hour from called_at_local) as int) as hour,
        {{ booking_intent_measures() }},
        count(*) filter (where direction = 'inbound' and not is_answered) as unanswered_inbound_calls,
        count(*) filter (where direction = 'inbound' and is_missed_new_booking) as missed_bookable_inbound_calls
    from {{ ref('phone_calls') }}
    group by practice_id, cast({{ iso_weekday('day') }} as int), cast(extract(hour from called_at_local) as int)
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
