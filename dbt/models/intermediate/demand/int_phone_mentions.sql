{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'phone', 'client_id'],
) }}

{%- set told %}
    select practice_id, client_id, {{ phone_digits('phone') }} as phone, weight
    from {{ weighted(ref('clients')) }} as clients
    union all
    select practice_id, client_id, {{ phone_digits('phone_number') }} as phone, weight
    from {{ weighted(ref('int_call_parties')) }} as parties
    union all
    select practice_id, client_id, {{ phone_digits('contact_number') }} as phone, weight
    from {{ weighted(ref('outreach_requests')) }} as requests
{%- endset %}
{%- if is_incremental() %}
{{- set_scope('select practice_id, phone, client_id from (' ~ told ~ ') as told') }}
{%- endif %}

with told as (
    {{ told }}
    {%- if is_incremental() %}
    union all
    select practice_id, client_id, phone, mentions as weight
    from {{ in_scope(this, ['practice_id', 'phone', 'client_id']) }}
    {%- endif %}
)

select
    practice_id,
    phone,
    client_id,
    {{ total('weight') }} as mentions
from told
where
    phone is not null
    and client_id is not null
group by practice_id, phone, client_id
having sum(weight) > 0
