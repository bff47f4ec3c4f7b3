{%- set counts = practice_counts() -%}
{%- set callers = caller_counts() -%}
with days as (
    select * from {{ ref('practice_days') }}
),

caller_days as (
    select
        practice_id,
        day,
        {{ caller_measures() }}
    from {{ ref('int_caller_days') }}
    group by practice_id, day
),

counted as (
    select
        practice_id,
        day,
        {{ stacked(counts + callers, {}) }}
    from days
    union all
    select
        practice_id,
        day,
        {{ stacked(counts + callers, {
            'calls': 'sum(calls)',
            'answered_calls': 'sum(answered_calls)',
            'new_booking_intent_calls': 'sum(new_booking_intent_calls)',
            'missed_new_booking_calls': 'sum(missed_new_booking_calls)',
            'inbound_calls': 'sum(case when direction = \'inbound\' then calls else 0 end)',
            'answered_inbound_calls': 'sum(case when direction = \'inbound\' then answered_calls else 0 end)',
        }) }}
    from {{ ref('booking_intent_daily') }}
    group by practice_id, day
    union all
    select
        practice_id,
        day,
        {{ stacked(counts + callers, {
            'unique_callers': 'unique_callers',
            'new_booking_callers': 'new_booking_callers',
            'booked_within_7_days': 'booked_within_7_days',
            'missed_callers': 'missed_callers',
            'recovered_within_7_days': 'recovered_within_7_days',
        }) }}
    from caller_days
    union all
    select
        practice_id,
        day,
        {{ stacked(counts + callers, {'sessions': 'sum(sessions)', 'completed': 'sum(completed)'}) }}
    from {{ ref('booking_funnel_daily') }}
    group by practice_id, day
    union all
    select
        practice_id,
        day,
        {{ stacked(counts + callers, {'outreach_requests': 'requests', 'contacted': 'contacted', 'booked': 'booked'}) }}
    from {{ ref('outreach_outcomes_daily') }}
    union all
    select
        practice_id,
        day,
        {{ stacked(counts + callers, {'tasks_created': 'created', 'tasks_completed': 'completed'}) }}
    from {{ ref('staff_task_turnaround_daily') }}
    union all
    select
        practice_id,
        day,
        {{ stacked(counts + callers, {'leaks': 'not_booked', 'anonymous_not_booked': 'anonymous_not_booked'}) }}
    from {{ ref('booking_requests_daily') }}
    where begun_by = 'client'
),

added as (
    select
        {%- for name in counts + callers %}
        {{ total(name) }} as {{ name }},
        {%- endfor %}
        practice_id,
        day
    from counted
    group by practice_id, day
)

select
    added.practice_id,
    added.day,
    {%- for name in counts + callers %}
    added.{{ name }},
    {%- endfor %}
    added.calls < {{ var('small_sample') }} as is_small_sample,
    coalesce(days.is_final, false) as is_final,
    practices.group_name,
    coalesce(days.is_seven_days_old, false) as is_seven_days_old
from added
left join days
    on
        added.practice_id = days.practice_id
        and added.day = days.day
left join {{ ref('practices') }} as practices
    on added.practice_id = practices.practice_id
