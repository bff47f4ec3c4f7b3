{#- The measures that are watched: the counts, and the shares with their parts and wholes, and if more is better. -#}
{%- set counts = ['inbound_calls', 'new_booking_intent_calls', 'sessions', 'outreach_requests', 'tasks_created'] -%}
{%- set shares = {
    'answered_rate': ['counted.answered_inbound_calls', 'counted.inbound_calls'],
    'new_booking_rate': [
        'counted.new_booking_intent_calls - counted.missed_new_booking_calls', 'counted.new_booking_intent_calls'
    ],
    'completion_rate': ['counted.completed', 'counted.sessions'],
} -%}
{%- set weeks = 'partition by practice_id, measure, weekday order by day rows between '
    ~ var('anomaly_weeks') ~ ' preceding and 1 preceding' -%}
with days as (
    select
        counted.*,
        days.weekday,
        days.is_over,
        {{ is_holiday('days.practice_id', 'days.day') }} as is_holiday
    from {{ ref('practice_days') }} as days
    inner join {{ ref('practice_daily') }} as counted
        on
            days.practice_id = counted.practice_id
            and days.day = counted.day
),

measured as (
    {%- for name in counts %}
    select
        counted.practice_id,
        counted.day,
        '{{ name }}' as measure,
        counted.weekday,
        counted.is_over,
        counted.is_holiday,
        cast(counted.{{ name }} as double) as counted,
        cast(null as double) as whole,
        false as is_share
    from days as counted
    union all
    {%- endfor %}
    {%- for name, (part, whole) in shares.items() %}
    select
        counted.practice_id,
        counted.day,
        '{{ name }}' as measure,
        counted.weekday,
        counted.is_over,
        counted.is_holiday,
        cast({{ part }} as double) as counted,
        cast({{ whole }} as double) as whole,
        true as is_share
    from days as counted
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}
),

-- A holiday is no example of an ordinary day.
ordinary as (
    select
        *,
        case when whole is null then counted else counted / nullif(whole, 0) end as value,
        case when not is_holiday then counted end as usual,
        case when not is_holiday then coalesce(whole, 0) end as usual_whole,
        case
            when not is_holiday and whole is null then counted
            when not is_holiday then counted / nullif(whole, 0)
        end as usual_value
    from measured
),

baselines as (
    select
        *,
        count(usual_value) over ({{ weeks }}) as baseline_days,
        sum(usual) over ({{ weeks }}) as usual_sum,
        sum(usual_whole) over ({{ weeks }}) as baseline_whole,
        case
            when whole is null then avg(usual) over ({{ weeks }})
            else sum(usual) over ({{ weeks }}) / nullif(sum(usual_whole) over ({{ weeks }}), 0)
        end as expected,
        coalesce(stddev_samp(usual_value) over ({{ weeks }}), 0) as scatter
    from ordinary
),

-- Chance alone scatters a count by its root, and a share as a toss does. A practice can scatter more than that. One
-- case more on each side keeps a share of 0 or 1 from having no scatter at all.
spread as (
    select
        *,
        greatest(
            scatter,
            case
                when whole is null then sqrt(greatest(expected, 1))
                else sqrt(
                    (usual_sum + 1) * (baseline_whole - usual_sum + 1)
                    / ((baseline_whole + 2) * (baseline_whole + 2) * nullif(whole, 0))
                )
            end
        ) as spread
    from baselines
),

bounded as (
    select
        *,
        -- The greatest and the least of a null and a number are the number.
        case when expected is not null then greatest(expected - {{ var('anomaly_spreads') }} * spread, 0) end as low,
        case
            when whole is null then expected + {{ var('anomaly_spreads') }} * spread
            when expected is not null then least(expected + {{ var('anomaly_spreads') }} * spread, 1)
        end as high
    from spread
),

judged as (
    select
        *,
        case
            when not is_over then 'not over'
            when is_holiday then 'holiday'
            when baseline_days < {{ var('anomaly_weeks') }} / 2 then 'no baseline'
            when
                coalesce(whole, greatest(counted, expected)) < {{ var('anomaly_least') }}
                or (whole is not null and baseline_whole < {{ var('small_sample') }})
                then 'few'
            when value < low then 'low'
            when value > high then 'high'
            else 'ordinary'
        end as verdict
    from bounded
)

select
    practice_id,
    day,
    measure,
    value,
    cast(whole as bigint) as of_cases,
    cast(baseline_days as bigint) as baseline_days,
    expected,
    low,
    high,
    (value - expected) / nullif(spread, 0) as distance,
    verdict,
    verdict in ('low', 'high') as is_anomaly,
    case when is_share and verdict in ('low', 'high') then verdict = 'low' end as is_worse,
    is_holiday
from judged
