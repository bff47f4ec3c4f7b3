with appointments as (
    select
        practice_id,
        appointment_id,
        client_id,
        {{ phone_digits('client_phone') }} as phone,
        created_at
    from {{ ref('int_appointments_identified') }}
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
