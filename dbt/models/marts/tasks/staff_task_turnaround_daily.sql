{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'day', 'task_type']) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, day from {{ changed(ref('staff_tasks')) }}
union
    select tasks.practice_id, tasks.day
    from {{ ref('staff_tasks') }} as tasks
    inner join {{ changed(ref('int_staff_tasks_reopened')) }} as reopened
        on tasks.practice_id = reopened.practice_id and tasks.task_id = reopened.task_id
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with reopened as (
    select * from {{ ref('int_staff_tasks_reopened') }}
),

tasks as (
    select
        tasks.*,
        reopened.task_id is not null as is_reopened
    from {{ in_scope(ref('staff_tasks'), ['practice_id', 'day']) }} as tasks
    left join reopened
        on
            tasks.practice_id = reopened.practice_id
            and tasks.task_id = reopened.task_id
)

select
    practice_id,
    day,
    task_type,
    {{ staff_task_measures() }}
from tasks
group by practice_id, day, task_type
