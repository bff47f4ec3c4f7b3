with tasks as (
    select * from {{ ref('staff_tasks') }}
),

reopened as (
    select * from {{ ref('int_staff_tasks_reopened') }}
)

select
    tasks.practice_id,
    tasks.day,
    tasks.task_type,
    count(*) as created,
    count(*) filter (where tasks.status = 'completed') as completed,
    count(*) filter (where tasks.status = 'canceled') as canceled,
    count(*) filter (where tasks.status = 'pending') as pending,
    median(tasks.hours_to_finalize) as median_hours_to_finalize,
    median(tasks.open_hours_to_finalize) as median_open_hours_to_finalize,
    count(reopened.task_id) as reopened
from tasks
left join reopened
    on
        tasks.practice_id = reopened.practice_id
        and tasks.task_id = reopened.task_id
group by tasks.practice_id, tasks.day, tasks.task_type
