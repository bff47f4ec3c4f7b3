with tasks as (
    select
        tasks.*,
        {{ on_the_wall('tasks', ['created_at', 'updated_at', 'finalized_at', 'reference_time_at']) }}
    from {{ ref('stg_partner__staff_tasks') }} as tasks
    left join {{ ref('stg_control__practices') }} as practices
        on tasks.practice_id = practices.practice_id
),

versions as (
    select
        practice_id,
        task_id,
        status in ('completed', 'canceled') as is_final,
        lag(status in ('completed', 'canceled')) over (
            partition by practice_id, task_id
            order by valid_from
        ) as was_final
    from {{ ref('stg_history__staff_tasks') }}
),

-- A task that vetl saw leave a final status. vetl does not see changes between two syncs.
reopened as (
    select distinct
        practice_id,
        task_id
    from versions
    where
        was_final
        and not coalesce(is_final, false)
),

-- The interface names no call in a task. The last call of the client within the day before is the likely one.
calls as (
    select
        tasks.practice_id,
        tasks.task_id,
        calls.call_key,
        {{ hours_between('calls.called_at', 'tasks.created_at') }} as hours_after_call
    from tasks
    inner join {{ ref('int_phone_calls') }} as calls
        on
            tasks.practice_id = calls.practice_id
            and tasks.client_id = calls.client_id
    where
        calls.is_inbound
        and {{ hours_between('calls.called_at', 'tasks.created_at') }} between 0 and 24
    qualify row_number() over (
        partition by tasks.practice_id, tasks.task_id
        order by calls.called_at desc, calls.call_key asc
    ) = 1
)

select
    tasks.*,
    calls.call_key,
    calls.hours_after_call,
    {{ hours_between('tasks.created_at', 'tasks.finalized_at') }} as hours_to_finalize,
    {{ open_hours_between('tasks.practice_id', 'tasks.created_at_local', 'tasks.finalized_at_local') }}
        as open_hours_to_finalize,
    case
        when tasks.status = 'pending' then {{ hours_between('tasks.created_at', own_clock()) }}
    end as hours_pending,
    cast(tasks.created_at_local as date) as day,
    reopened.task_id is not null as is_reopened
from tasks
{{ with_own_clock('tasks') }}
left join reopened
    on
        tasks.practice_id = reopened.practice_id
        and tasks.task_id = reopened.task_id
left join calls
    on
        tasks.practice_id = calls.practice_id
        and tasks.task_id = calls.task_id
