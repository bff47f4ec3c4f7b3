{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'day']) }}
{%- if is_incremental() %}
{%- set scope %}
    {{ changed_days('phone_calls') }}
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
        true as calls,
        booking_intent as intent_calls,
        booked as booked_calls
    from {{ in_scope(ref('stg_history__phone_calls'), ['practice_id', 'day']) }}
),

{{ restatements('versions', ['calls', 'intent_calls', 'booked_calls']) }}
