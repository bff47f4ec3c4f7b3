{{ config(
    materialized='incremental' if target.type == 'duckdb' else 'table',
    incremental_strategy='append',
    pre_hook='{{ take_out_changed(\'int_call_days\') }}',
) }}

with days as (
    select * from {{ ref('int_call_days') }}
    {% if is_incremental() %}
    where digest in ({{ lacking('int_call_days') }})
    {% endif %}
)

select
    days.practice_id,
    days.day,
    min(days.digest) as digest,
    calls.party,
    min(calls.called_at) filter (where calls.is_new_booking_intent) as wished_at,
    min(calls.called_at) filter (where calls.is_missed_new_booking) as missed_at
from {{ ref('int_calls_identified') }} as calls
inner join days
    on
        calls.practice_id = days.practice_id
        and calls.day = days.day
where calls.is_inbound
group by days.practice_id, days.day, calls.party
