with versions as (
    select
        practice_id,
        task_id,
        status in ('completed', 'canceled') as is_final,
        lag(status in ('completed', 'canceled')) over (
            partition by practice_id, task_id
            order by valid_from
        ) as was_final
    from {{ ref('stg_history__staff_tasks') }}
)

select
    practice_id,
    task_id,
    count(*) as times_reopened
from versions
where
    was_final
    and not coalesce(is_final, false)
group by practice_id, task_id
