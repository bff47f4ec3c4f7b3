{{ config(materialized='table') }}

with appointments as (
    select
        staged.*,
        {{ on_the_wall('staged', ['created_at', 'updated_at', 'booking_date', 'end_date']) }},
        spellings.e164 as phone
    from {{ ref('stg_partner__appointments') }} as staged
    left join {{ ref('stg_control__practices') }} as practices
        on staged.practice_id = practices.practice_id
    left join {{ ref('stg_control__phone_numbers') }} as spellings
        on
            staged.practice_id = spellings.practice_id
            and staged.client_phone = spellings.spelling
),

-- Remote ids that belong to exactly one patient, as calls show.
patients as (
    select
        practice_id,
        remote_patient_id,
        min(patient_id) as patient_id
    from {{ ref('int_call_people') }}
    where
        remote_patient_id is not null
        and patient_id is not null
    group by practice_id, remote_patient_id
    having count(distinct patient_id) = 1
),

identified as (
    select
        appointments.*,
        clients.client_id,
        patients.patient_id,
        coalesce(clients.client_id, phones.client_id) as person_client_id,
        case
            when {{ is_one_of('appointments.status', var('kept_statuses')) }} then 'kept'
            when {{ is_one_of('appointments.status', var('canceled_statuses')) }} then 'canceled'
            when {{ is_one_of('appointments.status', var('no_show_statuses')) }} then 'no_show'
            else 'open'
        end as attendance
    from appointments
    left join {{ ref('int_remote_clients') }} as clients
        on
            appointments.practice_id = clients.practice_id
            and appointments.remote_client_id = clients.remote_client_id
    left join patients
        on
            appointments.practice_id = patients.practice_id
            and appointments.remote_patient_id = patients.remote_patient_id
    left join {{ ref('int_client_phones') }} as phones
        on
            appointments.practice_id = phones.practice_id
            and appointments.phone = phones.phone
)

select
    *,
    {{ person('person_client_id', 'phone', 'null') }} as person,
    case when attendance != 'open' then attendance = 'kept' end as is_kept
from identified
