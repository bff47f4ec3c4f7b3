{{ config(materialized='table') }}

select
    practice_id,
    day,
    person,
    min(coalesce(caller_key, call_key)) as caller_key,
    min(called_at) filter (where is_new_booking_intent) as wanted_at,
    min(called_at) filter (where is_missed_new_booking) as missed_at
from {{ ref('int_phone_calls') }}
where is_inbound
group by practice_id, day, person
