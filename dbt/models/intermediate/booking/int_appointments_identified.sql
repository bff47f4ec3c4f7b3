with appointments as (
    select * from {{ ref('stg_partner__appointments') }}
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
