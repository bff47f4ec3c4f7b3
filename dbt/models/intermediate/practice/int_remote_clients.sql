{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'remote_client_id']) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, remote_client_id from {{ changed(ref('int_call_parties')) }}
    where client_id is not null and remote_client_id is not null
union
    select practice_id, remote_client_id from {{ changed(ref('clients')) }}
    where remote_client_id is not null
union
    select clients.practice_id, clients.remote_client_id || servers.suffix as remote_client_id
    from {{ changed(ref('clients')) }} as clients
    inner join {{ ref('int_servers') }} as servers
        on clients.practice_id = servers.practice_id
    where clients.remote_client_id is not null
union
    select clients.practice_id, clients.remote_client_id || servers.suffix as remote_client_id
    from (
        select practice_id, remote_client_id from {{ ref('clients') }}
        union
        select practice_id, remote_client_id from {{ changed(ref('clients')) }}
    ) as clients
    inner join {{ changed(ref('int_servers')) }} as servers
        on clients.practice_id = servers.practice_id
    where clients.remote_client_id is not null
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with clients as (
    select
        practice_id,
        remote_client_id,
        client_id
    from {{ ref('clients') }}
    where remote_client_id is not null
),

mentions as (
    select
        practice_id,
        remote_client_id,
        client_id
    from {{ ref('int_call_parties') }}
    where
        remote_client_id is not null
        and client_id is not null
    union all
    select * from clients
    -- A call carries the server's id behind the client's own: each client may be called so by each server.
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
from {{ in_scope('mentions', ['practice_id', 'remote_client_id']) }}
group by practice_id, remote_client_id
having count(distinct client_id) = 1
