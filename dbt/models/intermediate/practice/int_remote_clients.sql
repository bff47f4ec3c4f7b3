{{ config(materialized='table') }}

with clients as (
    select
        practice_id,
        remote_client_id,
        client_id
    from {{ ref('stg_partner__clients') }}
    where remote_client_id is not null
),

calls as (
    select distinct
        practice_id,
        remote_client_id,
        client_id
    from {{ ref('int_call_people') }}
    where
        remote_client_id is not null
        and client_id is not null
),

-- A call qualifies a remote id with the server's, `<remote id>-<server id>`; the client's own record may not.
-- A client seen both ways shows a server id of the practice.
servers as (
    select distinct
        calls.practice_id,
        substr(calls.remote_client_id, length(clients.remote_client_id) + 1) as suffix
    from calls
    inner join clients
        on
            calls.practice_id = clients.practice_id
            and calls.client_id = clients.client_id
    where
        substr(calls.remote_client_id, 1, length(clients.remote_client_id) + 1) = clients.remote_client_id || '-'
),

mentions as (
    select * from calls
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
    inner join servers
        on clients.practice_id = servers.practice_id
)

select
    practice_id,
    remote_client_id,
    min(client_id) as client_id
from mentions
group by practice_id, remote_client_id
having count(distinct client_id) = 1
