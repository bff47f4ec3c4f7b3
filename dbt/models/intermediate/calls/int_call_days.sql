{{ config(materialized='table') }}

with calls as (
    select
        practice_id,
        day,
        call_key,
        party,
        is_new_booking_intent,
        is_missed_new_booking,
        called_at
    from {{ ref('int_calls_identified') }}
    where is_inbound
)

select
    practice_id,
    day,
    bit_xor({{ row_hash('calls') }}) as digest
from calls
group by practice_id, day
