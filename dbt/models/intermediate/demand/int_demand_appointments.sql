{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'appointment_id'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, appointment_id from {{ changed(ref('int_appointments_identified')) }}
union
    select practice_id, appointment_id from {{ changed(ref('int_appointments_booked_via')) }}
union
    select held.practice_id, held.appointment_id
    from {{ this }} as held
    inner join {{ changed(ref('int_client_phones')) }} as learnt
        on held.practice_id = learnt.practice_id and held.phone = learnt.phone
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with appointments as (
    select
        practice_id,
        appointment_id,
        client_id,
        {{ phone_digits('client_phone') }} as phone,
        created_at
    from {{ in_scope(ref('int_appointments_identified'), ['practice_id', 'appointment_id']) }}
),

booked_via as (
    select * from {{ ref('int_appointments_booked_via') }}
),

phones as (
    select * from {{ ref('int_client_phones') }}
)

select
    appointments.practice_id,
    appointments.appointment_id,
    coalesce(appointments.client_id, phones.client_id) as client_id,
    appointments.phone,
    {{ party('coalesce(appointments.client_id, phones.client_id)', 'appointments.phone', 'null') }} as party,
    appointments.created_at,
    booked_via.booked_via,
    booked_via.attribution,
    coalesce(booked_via.session_id, booked_via.call_key, booked_via.request_id) as evidence_id
from appointments
left join booked_via
    on
        appointments.practice_id = booked_via.practice_id
        and appointments.appointment_id = booked_via.appointment_id
left join phones
    on
        appointments.practice_id = phones.practice_id
        and appointments.phone = phones.phone
