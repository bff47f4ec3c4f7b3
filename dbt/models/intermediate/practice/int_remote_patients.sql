{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'remote_patient_id'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, remote_patient_id from {{ changed(ref('int_call_parties')) }}
    where patient_id is not null and remote_patient_id is not null
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

select
    practice_id,
    remote_patient_id,
    min(patient_id) as patient_id
from {{ in_scope(ref('int_call_parties'), ['practice_id', 'remote_patient_id']) }}
where
    remote_patient_id is not null
    and patient_id is not null
group by practice_id, remote_patient_id
having count(distinct patient_id) = 1
