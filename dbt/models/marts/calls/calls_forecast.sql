{%- set measures = ['calls', 'bookable_calls', 'staff_minutes'] -%}
with predictions as (
    select * from {{ ref('stg_control__forecasts') }}
),

newest as (
    select
        practice_id,
        day,
        hour,
        max(made_at) as made_at
    from predictions
    group by practice_id, day, hour
),

counted as (
    select
        practice_id,
        day,
        cast(extract(hour from called_at_local) as int) as hour,
        count(*) as calls,
        count(*) filter (where is_new_booking_intent) as bookable_calls,
        sum(duration_seconds) filter (where is_answered) / 60e0 as staff_minutes
    from {{ ref('phone_calls') }}
    where direction = 'inbound'
    group by practice_id, day, cast(extract(hour from called_at_local) as int)
)

select
    predictions.practice_id,
    predictions.day,
    predictions.hour,
    cast({{ iso_weekday('predictions.day') }} as int) as weekday,
    predictions.made_on,
    predictions.made_at,
    predictions.weeks,
    {%- for measure in measures %}
    predictions.{{ measure }}_expected,
    predictions.{{ measure }}_low,
    predictions.{{ measure }}_high,
    predictions.{{ measure }}_naive,
    case when days.is_over then coalesce(counted.{{ measure }}, 0) end as {{ measure }}_counted,
    {%- endfor %}
    coalesce(days.is_over, false) as is_over
from predictions
inner join newest
    on
        predictions.practice_id = newest.practice_id
        and predictions.day = newest.day
        and predictions.hour = newest.hour
        and predictions.made_at = newest.made_at
left join {{ ref('practice_days') }} as days
    on
        predictions.practice_id = days.practice_id
        and predictions.day = days.day
left join counted
    on
        predictions.practice_id = counted.practice_id
        and predictions.day = counted.day
        and predictions.hour = counted.hour
