{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'patient_id']) }}
{%- if is_incremental() %}
{{- set_scope('select practice_id from (' ~ changed_days('patients') ~ ') as noted') }}
{%- endif %}

select
    practice_id,
    patient_id,
    client_id,
    name,
    species,
    breed
from {{ in_scope(ref('stg_partner__patients'), ['practice_id']) }}
