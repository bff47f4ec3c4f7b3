{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'phone']) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, phone from {{ changed(ref('int_phone_mentions')) }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

select
    practice_id,
    phone,
    min(client_id) as client_id
from {{ in_scope(ref('int_phone_mentions'), ['practice_id', 'phone']) }}
group by practice_id, phone
having count(*) = 1
