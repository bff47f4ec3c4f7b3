{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'client_id']) }}
{%- if is_incremental() %}
{{- set_scope('select practice_id from (' ~ changed_days('clients') ~ ') as noted') }}
{%- endif %}

select
    practice_id,
    client_id,
    remote_client_id,
    name,
    email,
    phone,
    patient_count
from {{ in_scope(ref('stg_partner__clients'), ['practice_id']) }}
