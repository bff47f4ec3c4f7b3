{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'suffix']) }}

select distinct
    practice_id,
    suffix
from {{ ref('int_client_servers') }}
