{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'task_id']) }}
{%- if is_incremental() %}
{%- set scope %}
    {{ ids_of_changed_days('staff_tasks', ref('stg_partner__staff_tasks'), 'task_id') }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

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
    {{ open_hours_between('created_at_local', 'finalized_at_local') }} as open_hours_to_finalize,

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
from {{ in_scope(ref('stg_partner__staff_tasks'), ['practice_id', 'task_id']) }}
