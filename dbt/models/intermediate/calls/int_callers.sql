{{ config(materialized='table') }}

with told as (
    select distinct
        practice_id,
        client_id,
        remote_client_id,
        phone_number,
        phone
    from {{ ref('int_call_parties') }}
),

identified as (
    select
        told.practice_id,
        told.client_id as told_client_id,
        told.remote_client_id,
        told.phone_number,
        told.phone,
        coalesce(told.client_id, clients.client_id, phones.client_id) as client_id
    from told
    left join {{ ref('int_remote_clients') }} as clients
        on
            told.practice_id = clients.practice_id
            and told.remote_client_id = clients.remote_client_id
    left join {{ ref('int_client_phones') }} as phones
        on
            told.practice_id = phones.practice_id
            and told.phone = phones.phone
)

select
    *,
    {{ row_hash('identified') }} as digest
from identified
