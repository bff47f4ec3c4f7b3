{% set told = [
    'practice_id', 'client_id', 'remote_client_id', 'patient_id', 'remote_patient_id', 'phone_number',
] -%}
{{ config(materialized='table') }}

with told as (
    select
        {{ told | join(',\n        ') }},
        count(*) as calls,
        -- The first call, as text that sorts by its minute.
        min(cast(called_at_local as string) || ' ' || call_key) as first_call
    from {{ ref('stg_partner__phone_calls') }}
    group by {{ told | join(', ') }}
)

select
    told.*,
    {{ phone('told.phone_number', 'spellings') }} as phone
from told
left join {{ ref('stg_control__phone_numbers') }} as spellings
    on
        told.practice_id = spellings.practice_id
        and told.phone_number = spellings.spelling
