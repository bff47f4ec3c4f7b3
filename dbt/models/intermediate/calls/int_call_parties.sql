{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'client_id', 'remote_client_id', 'patient_id', 'remote_patient_id', 'phone_number'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, client_id, remote_client_id, patient_id, remote_patient_id, phone_number from {{ changed(ref('phone_calls')) }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

{% set party = [
    'practice_id', 'client_id', 'remote_client_id', 'patient_id', 'remote_patient_id', 'phone_number',
] -%}
with mentions as (
    {% if is_incremental() -%}
    select
        {{ party | join(', ') }},
        calls
    from {{ in_scope(this, party) }}
    union all
    select
        {{ party | join(', ') }},
        weight as calls
    from {{ changed(ref('phone_calls')) }}
    {%- else -%}
    select
        {{ party | join(', ') }},
        1 as calls
    from {{ ref('phone_calls') }}
    {%- endif %}
)

select
    {{ party | join(',\n    ') }},
    {{ total('calls') }} as calls
from mentions
where
    client_id is not null
    or patient_id is not null
group by {{ party | join(', ') }}
having sum(calls) > 0
