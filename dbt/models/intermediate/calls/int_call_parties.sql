{% set party = [
    'practice_id', 'client_id', 'remote_client_id', 'patient_id', 'remote_patient_id', 'phone_number',
] -%}
{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=party) }}
{%- if is_incremental() %}
{{- set_scope('select ' ~ party | join(', ') ~ ' from ' ~ changed(ref('phone_calls'))) }}
{%- endif %}

with mentions as (
    select
        {{ party | join(',\n        ') }},
        weight
    from {{ weighted(ref('phone_calls')) }} as calls
    {%- if is_incremental() %}
    union all
    select
        {{ party | join(',\n        ') }},
        calls as weight
    from {{ in_scope(this, party) }}
    {%- endif %}
)

select
    {{ party | join(',\n    ') }},
    {{ total('weight') }} as calls
from mentions
where
    client_id is not null
    or patient_id is not null
group by {{ party | join(', ') }}
having sum(weight) > 0
