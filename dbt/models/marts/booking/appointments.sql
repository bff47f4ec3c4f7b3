with appointments as (
    select * from {{ ref('int_appointments_identified') }}
)

select
    {{ all_except('appointments', ['person_client_id', 'person', 'phone', 'evidence_id']) }},
    -- A person's key is the id of the person's first appointment: it reveals no number.
    case
        when appointments.person is not null
            then first_value(appointments.appointment_id) over (
                partition by appointments.practice_id, appointments.person
                order by appointments.created_at nulls last, appointments.appointment_id
            )
    end as person_key,
    case when appointments.booked_via = 'online' then appointments.evidence_id end as session_id,
    case when appointments.booked_via = 'call' then appointments.evidence_id end as call_key,
    case when appointments.booked_via = 'outreach' then appointments.evidence_id end as request_id,
    cast(appointments.created_at_local as date) as day
from appointments
