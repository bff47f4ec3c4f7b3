{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'phone']) }}

with mentions as (
    select
        practice_id,
        client_id,
        {{ phone_digits('phone') }} as phone
    from {{ ref('stg_partner__clients') }}
    union all
    select
        practice_id,
        client_id,
        {{ phone_digits('phone_number') }} as phone
    from {{ ref('int_call_parties') }}
    union all
    select
        practice_id,
        client_id,
        {{ phone_digits('contact_number') }} as phone
    from {{ ref('stg_partner__ai_outbound_requests') }}
)

select
    practice_id,
    phone,
    min(client_id) as client_id
from mentions
where
    phone is not null
    and client_id is not null
group by practice_id, phone
having count(distinct client_id) = 1
