{{ config(materialized='table') }}

with contacts as (
    select * from {{ ref('int_demand_people') }}
),

appointments as (
    select
        practice_id,
        person,
        appointment_id,
        created_at,
        status,
        is_kept
    from {{ ref('int_appointments_identified') }}
),

booked_via as (
    select * from {{ ref('int_appointments_booked_via') }}
),

tasks as (
    select
        practice_id,
        client_id,
        task_type,
        status,
        finalized_at,
        task_id
    from {{ ref('stg_partner__staff_tasks') }}
    where
        client_id is not null
        and finalized_at is not null
),

-- All inputs of the timeline and the episodes of a client or number, each row as one number.
made_from as (
    select
        contacts.practice_id,
        contacts.person,
        true as is_contact,
        {{ row_hash('contacts', 'appointments.status', 'appointments.is_kept', 'practices.time_zone') }} as row_hash
    from contacts
    left join {{ ref('stg_control__practices') }} as practices
        on contacts.practice_id = practices.practice_id
    left join appointments
        on
            contacts.practice_id = appointments.practice_id
            and contacts.appointment_id = appointments.appointment_id
    union all
    select
        appointments.practice_id,
        appointments.person,
        false as is_contact,
        {{ row_hash(
            'appointments', 'booked_via.booked_via', 'booked_via.attribution', 'booked_via.evidence_id'
        ) }} as row_hash
    from appointments
    left join booked_via
        on
            appointments.practice_id = booked_via.practice_id
            and appointments.appointment_id = booked_via.appointment_id
    where appointments.person is not null
    union all
    select
        practice_id,
        {{ person('client_id', 'null', 'null') }} as person,
        false as is_contact,
        {{ row_hash('tasks') }} as row_hash
    from tasks
)

select
    practice_id,
    person,
    bit_xor(row_hash) as digest,
    count(*) filter (where is_contact) as contacts
from made_from
group by practice_id, person
having bool_or(is_contact)
