{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['group_name', 'day', 'task_type']) }}
{%- if is_incremental() %}
{%- set scope %}
    {{ days_of_groups(ref('staff_tasks')) }}
union
    select practices.group_name, tasks.day
    from {{ ref('staff_tasks') }} as tasks
    inner join {{ changed(ref('int_staff_tasks_reopened')) }} as reopened
        on tasks.practice_id = reopened.practice_id and tasks.task_id = reopened.task_id
    inner join {{ ref('practices') }} as practices
        on tasks.practice_id = practices.practice_id
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with reopened as (
    select * from {{ ref('int_staff_tasks_reopened') }}
),

members as (
    select * from {{ in_scope('(' ~ in_groups(ref('staff_tasks')) ~ ')', ['group_name', 'day']) }}
),

tasks as (
    select
        members.*,
        reopened.task_id is not null as is_reopened
    from members
    left join reopened
        on
            members.practice_id = reopened.practice_id
            and members.task_id = reopened.task_id
)

select
    group_name,
    day,
    task_type,
    {{ staff_task_measures() }}
from tasks
group by group_name, day, task_type
