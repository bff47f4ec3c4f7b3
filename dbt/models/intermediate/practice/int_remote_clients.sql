{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'remote_client_id'],
) }}

with calls as (
    select distinct
        practice_id,
        remote_client_id,
        client_id
    from {{ ref('int_call_parties') }}
    where
        remote_client_id is not null
        and client_id is not null
),

clients as (
    select
        practice_id,
        remote_client_id,
        client_id
    from {{ ref('stg_partner__clients') }}
    where remote_client_id is not null
),

-- A call qualifies a remote id with the server's, `<remote id>-<server id>`, where the client's own record may not:
-- a client seen both ways tells a server id of the practice.
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
    union
    select * from clients
    union
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
