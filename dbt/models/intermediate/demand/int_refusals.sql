{{ config(materialized='table') }}

with said as (
    select
        practice_id,
        person,
        outcome as refusal
    from {{ ref('int_phone_calls') }}
    where {{ is_one_of('outcome', var('never_call')) }}
    union all
    select
        practice_id,
        person,
        case when {{ is_one_of('outcome', var('never_call')) }} then outcome else suppression_reason end as refusal
    from {{ ref('int_requests_identified') }}
    where
        {{ is_one_of('outcome', var('never_call')) }}
        or {{ is_one_of('suppression_reason', var('never_call')) }}
)

select
    practice_id,
    person,
    min(refusal) as refusal
from said
group by practice_id, person
