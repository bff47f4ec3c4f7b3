{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'task_id']) }}
{%- if is_incremental() %}
{%- set scope %}
    {{ ids_with_history('staff_tasks', ref('stg_history__staff_tasks'), 'task_id') }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with versions as (
    select
        practice_id,
        task_id,
        status in ('completed', 'canceled') as is_final,
        lag(status in ('completed', 'canceled')) over (
            partition by practice_id, task_id
            order by valid_from
        ) as was_final
    from {{ in_scope(ref('stg_history__staff_tasks'), ['practice_id', 'task_id']) }}
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
