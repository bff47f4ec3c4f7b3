{% set columns = [
    'practice_id', 'client_id', 'remote_client_id', 'patient_id', 'remote_patient_id', 'phone_number',
] -%}
{{ config(materialized='table') }}

with people as (
    select
        {{ columns | join(',\n        ') }},
        count(*) as calls,
        -- The first call, as text that sorts by its minute.
        min(cast(called_at_local as string) || ' ' || call_key) as first_call
    from {{ ref('stg_partner__phone_calls') }}
    group by {{ columns | join(', ') }}
)

select
    people.*,
    spellings.e164 as phone
from people
left join {{ ref('stg_control__phone_numbers') }} as spellings
    on
        people.practice_id = spellings.practice_id
        and people.phone_number = spellings.spelling
