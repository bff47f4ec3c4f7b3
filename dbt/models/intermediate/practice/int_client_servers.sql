{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'client_id', 'remote_client_id'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, client_id from {{ changed(ref('int_call_parties')) }}
    where client_id is not null and remote_client_id is not null
union
    select practice_id, client_id from {{ changed(ref('clients')) }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

-- A call qualifies a remote id with the server's, `<remote id>-<server id>`, where the client's own record may not:
-- a client seen both ways tells a server id of the practice.
with calls as (
    select distinct
        practice_id,
        client_id,
        remote_client_id
    from {{ in_scope(ref('int_call_parties'), ['practice_id', 'client_id']) }}
    where
        client_id is not null
        and remote_client_id is not null
),

clients as (
    select * from {{ in_scope(ref('clients'), ['practice_id', 'client_id']) }}
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
