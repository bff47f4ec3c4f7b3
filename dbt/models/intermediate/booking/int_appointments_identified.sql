{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'appointment_id'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    {{ ids_of_changed_days('appointments', ref('stg_partner__appointments'), 'appointment_id') }}
union
    select held.practice_id, held.appointment_id
    from {{ this }} as held
    inner join {{ changed(ref('int_remote_clients')) }} as learnt
        on held.practice_id = learnt.practice_id and held.remote_client_id = learnt.remote_client_id
union
    select held.practice_id, held.appointment_id
    from {{ this }} as held
    inner join {{ changed(ref('int_remote_patients')) }} as learnt
        on held.practice_id = learnt.practice_id and held.remote_patient_id = learnt.remote_patient_id
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with appointments as (
    select * from {{ in_scope(ref('stg_partner__appointments'), ['practice_id', 'appointment_id']) }}
),

clients as (
    select * from {{ ref('int_remote_clients') }}
),

patients as (
    select * from {{ ref('int_remote_patients') }}
)

select
    appointments.*,
    clients.client_id,
    patients.patient_id
from appointments
left join clients
    on
        appointments.practice_id = clients.practice_id
        and appointments.remote_client_id = clients.remote_client_id
left join patients
    on
        appointments.practice_id = patients.practice_id
        and appointments.remote_patient_id = patients.remote_patient_id
