{#- Shares of the last 28 days that are old enough, with their parts and wholes; of each more is better. -#}
{%- set shares = {
    'answered_rate': ['answered_inbound_calls', 'inbound_calls', 'is_over'],
    'booked_within_7_days_rate': ['booked_within_7_days', 'new_booking_callers', 'is_old'],
    'completion_rate': ['completed', 'sessions', 'is_over'],
} -%}
{%- set z = 1.96 -%}
with days as (
    select
        counted.*,
        days.is_over,
        days.is_seven_days_old as is_old
    from {{ ref('practice_daily') }} as counted
    inner join {{ ref('practice_days') }} as days
        on
            counted.practice_id = days.practice_id
            and counted.day = days.day
),

measured as (
    {%- for name, (part, whole, ready) in shares.items() %}
    select
        practice_id,
        '{{ name }}' as measure,
        day,
        cast({{ part }} as double) as part,
        cast({{ whole }} as double) as whole
    from days
    where {{ ready }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}
),

recent as (
    select *
    from measured
    qualify row_number() over (partition by practice_id, measure order by day desc) <= 28
),

added as (
    select
        practice_id,
        measure,
        min(day) as first_day,
        max(day) as last_day,
        sum(part) as part,
        sum(whole) as whole
    from recent
    group by practice_id, measure
),

compared as (
    select
        *,
        part / nullif(whole, 0) as value,
        sum(part) over (partition by measure) - part as others_part,
        sum(whole) over (partition by measure) - whole as others_whole,
        count(case when whole > 0 then 1 end) over (partition by measure) as practices
    from added
),

-- The interval of Wilson, which stays sound for few cases: `share_interval` in SQL; a test compares them.
bounded as (
    select
        *,
        (value + {{ z * z }} / (2 * nullif(whole, 0))) / (1 + {{ z * z }} / nullif(whole, 0)) as middle,
        {{ z }} * sqrt(value * (1 - value) / nullif(whole, 0) + {{ z * z }} / (4 * nullif(whole * whole, 0)))
        / (1 + {{ z * z }} / nullif(whole, 0)) as half
    from compared
)

select
    practice_id,
    measure,
    first_day,
    last_day,
    value,
    cast(whole as bigint) as cases,
    middle - half as low,
    middle + half as high,
    others_part / nullif(others_whole, 0) as peers,
    case
        when whole > 0 then cast(rank() over (partition by measure order by value desc nulls last) as bigint)
    end as place,
    practices,
    case
        when others_part / nullif(others_whole, 0) < middle - half then 'better'
        when others_part / nullif(others_whole, 0) > middle + half then 'worse'
        when others_whole > 0 and whole > 0 then 'alike'
    end as verdict
from bounded
