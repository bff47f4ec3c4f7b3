{% set party = [
    'practice_id', 'client_id', 'remote_client_id', 'patient_id', 'remote_patient_id', 'phone',
] -%}
{{ config(materialized='table') }}

select
    {{ party | join(',\n    ') }},
    count(*) as calls
from {{ ref('int_phone_calls') }}
where
    client_id is not null
    or patient_id is not null
group by {{ party | join(', ') }}
