with practices as (
    select * from {{ ref('int_practice_clocks') }}
),

days as (
    select
        practice_id,
        time_zone,
        as_of,
        {{ each_day('history_start', 'today') }} as day
    from practices
),

bounded as (
    select
        practice_id,
        day,
        as_of,
        {{ instant_at('cast(day as timestamp)', 'time_zone') }} as starts_at,
        {{ instant_at('cast(day + 1 as timestamp)', 'time_zone') }} as ends_at
    from days
)

select
    practice_id,
    day,
    cast({{ iso_weekday('day') }} as int) as weekday,
    cast(date_trunc('week', day) as date) as week,
    cast(date_trunc('month', day) as date) as month,
    {{ hours_between('starts_at', 'ends_at') }} as hours,
    as_of >= ends_at as is_over,
    {{ hours_between('ends_at', 'as_of') }} >= {{ final_after_hours() }} as is_final,
    {{ hours_between('ends_at', 'as_of') }} >= 7 * 24 as is_seven_days_old,
    {{ is_holiday('practice_id', 'day') }} as is_holiday,
    starts_at,
    ends_at
from bounded
