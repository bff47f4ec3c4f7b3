{%- set counts = practice_counts() -%}
{%- set caller_names = caller_counts() -%}
with days as (
    select
        practice_id,
        cast(date_trunc('week', day) as date) as week,
        {%- for name in counts %}
        {{ total(name) }} as {{ name }},
        {%- endfor %}
        bool_and(is_final) as is_final,
        bool_and(is_seven_days_old) as is_seven_days_old
    from {{ ref('practice_daily') }}
    group by practice_id, cast(date_trunc('week', day) as date)
),

-- A caller on two days of a week is one caller of the week.
callers as (
    select
        practice_id,
        week,
        person,
        bool_or(wants_booking) as wants_booking,
        bool_or(is_missed) as is_missed,
        bool_or(is_booked_within_7_days) as is_booked_within_7_days,
        bool_or(is_recovered_within_7_days) as is_recovered_within_7_days
    from {{ ref('int_caller_days') }}
    group by practice_id, week, person
),

caller_weeks as (
    select
        practice_id,
        week,
        {{ caller_measures() }}
    from callers
    group by practice_id, week
)

select
    days.practice_id,
    days.week,
    {%- for name in counts %}
    days.{{ name }},
    {%- endfor %}
    {%- for name in caller_names %}
    coalesce(caller_weeks.{{ name }}, 0) as {{ name }},
    {%- endfor %}
    days.calls < {{ var('small_sample') }} as is_small_sample,
    days.is_final,
    practices.group_name,
    days.is_seven_days_old
from days
left join caller_weeks
    on
        days.practice_id = caller_weeks.practice_id
        and days.week = caller_weeks.week
left join {{ ref('practices') }} as practices
    on days.practice_id = practices.practice_id
