select
    practice_id,
    day,
    task_type,
    {{ staff_task_measures() }}
from {{ ref('staff_tasks') }}
group by practice_id, day, task_type
