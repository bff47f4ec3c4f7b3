with appointments as (
    select * from {{ ref('int_appointments_identified') }}
),

booked_via as (
    select * from {{ ref('int_appointments_booked_via') }}
)

select
    {{ all_except('appointments', ['person_client_id', 'person', 'phone']) }},
    -- A person's key is the id of the person's first appointment: it reveals no number.
    case
        when appointments.person is not null
            then first_value(appointments.appointment_id) over (
                partition by appointments.practice_id, appointments.person
                order by appointments.created_at, appointments.appointment_id
            )
    end as person_key,
    case when booked_via.booked_via = 'online' then booked_via.evidence_id end as session_id,
    case when booked_via.booked_via = 'call' then booked_via.evidence_id end as call_key,
    case when booked_via.booked_via = 'outreach' then booked_via.evidence_id end as request_id,
    booked_via.booked_via,
    booked_via.attribution,
    appointments.attendance as course,
    cast(appointments.created_at_local as date) as day
from appointments
left join booked_via
    on
        appointments.practice_id = booked_via.practice_id
        and appointments.appointment_id = booked_via.appointment_id
