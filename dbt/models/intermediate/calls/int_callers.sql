{{ config(materialized='table') }}

with people as (
    select
        practice_id,
        client_id,
        remote_client_id,
        phone_number,
        phone,
        min(first_call) as first_call
    from {{ ref('int_call_people') }}
    group by practice_id, client_id, remote_client_id, phone_number, phone
),

identified as (
    select
        people.practice_id,
        people.client_id as call_client_id,
        people.remote_client_id,
        people.phone_number,
        people.phone,
        coalesce(people.client_id, clients.client_id, phones.client_id) as client_id,
        people.first_call
    from people
    left join {{ ref('int_remote_clients') }} as clients
        on
            people.practice_id = clients.practice_id
            and people.remote_client_id = clients.remote_client_id
    left join {{ ref('int_client_phones') }} as phones
        on
            people.practice_id = phones.practice_id
            and people.phone = phones.phone
)

-- The key of a caller is that of the caller's first call: it reveals no number, and later calls do not change it.
select
    practice_id,
    call_client_id,
    remote_client_id,
    phone_number,
    phone,
    client_id,
    case
        when client_id is not null or phone is not null
            then split_part(
                min(first_call) over (
                    partition by practice_id, {{ person('client_id', 'phone', 'null') }}
                ), ' ', 3
            )
    end as caller_key
from identified
