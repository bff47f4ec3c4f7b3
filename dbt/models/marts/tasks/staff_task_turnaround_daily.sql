with reopened as (
    select * from {{ ref('int_staff_tasks_reopened') }}
),

tasks as (
    select
        tasks.*,
        reopened.task_id is not null as is_reopened
    from {{ ref('staff_tasks') }} as tasks
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
