with reopened as (
    select * from {{ ref('int_staff_tasks_reopened') }}
),

members as (
    {{ in_groups(ref('staff_tasks')) }}
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
