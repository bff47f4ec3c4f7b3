-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

with callers as (
    select * from {{ ref('int_caller_day_facts') }}
    where wanted_at is not null
),

bookings as (
    select * from {{ ref('int_caller_bookings') }}
)

select
    callers.practice_id,
    callers.day,
    callers.caller_key,
    callers.wanted_at as wished_at,
    callers.missed_at,
    callers.missed_at is not null as is_missed,
    coalesce(bookings.is_booked, false) as is_booked_within_7_days,
    coalesce(bookings.is_recovered, false) as is_recovered_within_7_days
from callers
left join bookings
    on
        callers.practice_id = bookings.practice_id
        and callers.day = bookings.day
        and callers.person = bookings.person
