{{ config(materialized='table') }}

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
