{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'day']) }}
{%- if is_incremental() %}
{#- What began on a day of UTC did so on that of the practice, the one before or the one after. -#}
{%- set scope %}
    select noted.practice_id, noted.day + shifts.days as day
    from ({{ changed_days('booking_sessions') }}) as noted
    cross join (select -1 as days union select 0 union select 1) as shifts
union
    select practice_id, day from {{ ref('practice_days') }}
    where {{ became_older_than(0, 'ends_at') }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with versions as (
    select
        practice_id,
        day,
        valid_from,
        valid_to,
        true as sessions,
        status = 'completed' as completed,
        status = 'abandoned' as abandoned,
        status = 'active' as active,
        has_appointment as with_appointment
    from {{ in_scope(ref('stg_history__booking_sessions'), ['practice_id', 'day']) }}
),

{{ restatements('versions', ['sessions', 'completed', 'abandoned', 'active', 'with_appointment']) }}
