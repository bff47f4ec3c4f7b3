with tasks as (
    select * from {{ ref('stg_partner__staff_tasks') }}
)

select
    tasks.*,
    {{ hours_between('tasks.created_at', 'tasks.finalized_at') }} as hours_to_finalize,
    {{ open_hours_between('tasks.practice_id', 'tasks.created_at_local', 'tasks.finalized_at_local') }}
        as open_hours_to_finalize,
    case
        when tasks.status = 'pending' then {{ hours_between('tasks.created_at', own_clock()) }}
    end as hours_pending,
    cast(tasks.created_at_local as date) as day
from tasks
{{ with_own_clock('tasks') }}
