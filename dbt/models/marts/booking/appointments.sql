with appointments as (
    select * from {{ ref('int_appointments_identified') }}
),

booked_via as (
    select * from {{ ref('int_appointments_booked_via') }}
)

select
    -- ids
    appointments.practice_id,
    appointments.appointment_id,
    appointments.remote_appointment_id,
    appointments.client_id,
    appointments.remote_client_id,
    appointments.patient_id,
    appointments.remote_patient_id,
    -- A person's key is the id of the person's first appointment: it reveals no number.
    case
        when appointments.person is not null
            then first_value(appointments.appointment_id) over (
                partition by appointments.practice_id, appointments.person
                order by appointments.created_at, appointments.appointment_id
            )
    end as person_key,
    case when booked_via.booked_via = 'session' then booked_via.evidence_id end as session_id,
    case when booked_via.booked_via = 'call' then booked_via.evidence_id end as call_key,
    case when booked_via.booked_via = 'outreach' then booked_via.evidence_id end as request_id,

    -- text
    appointments.status,
    booked_via.booked_via,
    booked_via.attribution,
    appointments.attendance,
    appointments.attendance as course,
    appointments.client_type,
    appointments.referral_source,
    appointments.referral_campaign,
    appointments.referral_medium,
    appointments.client_first_name,
    appointments.client_last_name,
    appointments.client_email,
    appointments.client_phone,
    appointments.patient_name,

    -- booleans
    appointments.is_kept,

    -- times
    cast(appointments.created_at_local as date) as day,
    appointments.created_at,
    appointments.created_at_local,
    appointments.updated_at,
    appointments.updated_at_local,
    appointments.booking_date,
    appointments.booking_date_local,
    appointments.end_date,
    appointments.end_date_local
from appointments
left join booked_via
    on
        appointments.practice_id = booked_via.practice_id
        and appointments.appointment_id = booked_via.appointment_id
