{{ config(materialized='table') }}

with clients as (
    select
        practice_id,
        remote_client_id,
        client_id
    from {{ ref('stg_partner__clients') }}
    where remote_client_id is not null
),

mentions as (
    select
        practice_id,
        remote_client_id,
        client_id
    from {{ ref('int_call_people') }}
    where
        remote_client_id is not null
        and client_id is not null
    union all
    select * from clients
    -- A call carries the server's id behind the client's own id: each server may use this name for each
    -- client.
    union all
    select
        clients.practice_id,
        clients.remote_client_id || servers.suffix as remote_client_id,
        clients.client_id
    from clients
    inner join {{ ref('int_servers') }} as servers
        on clients.practice_id = servers.practice_id
)

select
    practice_id,
    remote_client_id,
    min(client_id) as client_id
from mentions
group by practice_id, remote_client_id
having count(distinct client_id) = 1
