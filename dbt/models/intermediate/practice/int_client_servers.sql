{{ config(materialized='table') }}

-- A call qualifies a remote id with the server's, `<remote id>-<server id>`; the client's own record may not.
-- A client seen both ways shows a server id of the practice.
with calls as (
    select distinct
        practice_id,
        client_id,
        remote_client_id
    from {{ ref('int_call_people') }}
    where
        client_id is not null
        and remote_client_id is not null
),

clients as (
    select * from {{ ref('stg_partner__clients') }}
)

select
    calls.practice_id,
    calls.client_id,
    calls.remote_client_id,
    substr(calls.remote_client_id, length(clients.remote_client_id) + 1) as suffix
from calls
inner join clients
    on
        calls.practice_id = clients.practice_id
        and calls.client_id = clients.client_id
where
    substr(calls.remote_client_id, 1, length(clients.remote_client_id) + 1) = clients.remote_client_id || '-'
