{{ config(materialized='table') }}

with named as (
    select
        clients.practice_id,
        clients.client_id,
        spellings.e164 as phone
    from {{ ref('stg_partner__clients') }} as clients
    left join {{ ref('stg_control__phone_numbers') }} as spellings
        on
            clients.practice_id = spellings.practice_id
            and clients.phone = spellings.spelling
    union all
    select
        practice_id,
        client_id,
        phone
    from {{ ref('int_call_people') }}
    union all
    select
        requests.practice_id,
        requests.client_id,
        spellings.e164 as phone
    from {{ ref('stg_partner__ai_outbound_requests') }} as requests
    left join {{ ref('stg_control__phone_numbers') }} as spellings
        on
            requests.practice_id = spellings.practice_id
            and requests.contact_number = spellings.spelling
)

select
    practice_id,
    phone,
    min(client_id) as client_id
from named
where
    phone is not null
    and client_id is not null
group by practice_id, phone
having count(distinct client_id) = 1
