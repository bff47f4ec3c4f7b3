{{ config(materialized='table') }}

with callers as (
    select * from {{ ref('int_caller_day_facts') }}
    where wanted_at is not null
),

bookings as (
    select * from {{ ref('int_person_bookings') }}
)

select
    callers.practice_id,
    callers.day,
    callers.person,
    bool_or({{ hours_between('callers.wanted_at', 'bookings.booked_at') }} between 0 and 7 * 24) as is_booked,
    bool_or({{ hours_between('callers.missed_at', 'bookings.booked_at') }} between 0 and 7 * 24) as is_recovered
from callers
inner join bookings
    on
        callers.practice_id = bookings.practice_id
        and callers.person = bookings.person
where
    {{ hours_between('callers.wanted_at', 'bookings.booked_at') }} >= 0
    and {{ hours_between('coalesce(callers.missed_at, callers.wanted_at)', 'bookings.booked_at') }} <= 7 * 24
group by callers.practice_id, callers.day, callers.person
