with tasks as (
    select * from {{ ref('int_staff_tasks') }}
),

reopened as (
    select * from {{ ref('int_staff_tasks_reopened') }}
)

select
    tasks.*,
    reopened.task_id is not null as is_reopened
from tasks
left join reopened
    on
        tasks.practice_id = reopened.practice_id
        and tasks.task_id = reopened.task_id
