with tasks as (
    select
        tasks.*,
        {{ own_clock() }} as source_clock
    from {{ ref('stg_partner__staff_tasks') }} as tasks
    {{ with_own_clock('tasks') }}
)

select
    -- ids
    practice_id,
    task_id,
    client_id,
    patient_id,

    -- text
    task_type,
    status,
    title,
    description,
    override_completion_action_text,

    -- numerics
    {{ hours_between('created_at', 'finalized_at') }} as hours_to_finalize,
    {{ open_hours_between('practice_id', 'created_at_local', 'finalized_at_local') }} as open_hours_to_finalize,
    case when status = 'pending' then {{ hours_between('created_at', 'source_clock') }} end as hours_pending,

    -- booleans
    cancellation_allowed,

    -- times
    cast(created_at_local as date) as day,
    created_at,
    created_at_local,
    updated_at,
    updated_at_local,
    finalized_at,
    finalized_at_local,
    reference_time_at,
    reference_time_at_local
from tasks
