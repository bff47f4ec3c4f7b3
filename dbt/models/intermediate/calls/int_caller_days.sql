{{ config(materialized='table') }}

with callers as (
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
),

booked as (
    select
        callers.practice_id,
        callers.day,
        callers.person,
        bool_or({{ hours_between('callers.wanted_at', 'bookings.booked_at') }} between 0 and 7 * 24) as is_booked,
        bool_or({{ hours_between('callers.missed_at', 'bookings.booked_at') }} between 0 and 7 * 24) as is_recovered
    from callers
    inner join {{ person_bookings() }} as bookings
        on
            callers.practice_id = bookings.practice_id
            and callers.person = bookings.person
    where
        {{ hours_between('callers.wanted_at', 'bookings.booked_at') }} >= 0
        and {{ hours_between('coalesce(callers.missed_at, callers.wanted_at)', 'bookings.booked_at') }} <= 7 * 24
    group by callers.practice_id, callers.day, callers.person
)

select
    callers.practice_id,
    callers.day,
    cast(date_trunc('week', callers.day) as date) as week,
    callers.person,
    callers.caller_key,
    callers.wanted_at,
    callers.missed_at,
    callers.wanted_at is not null as wants_booking,
    callers.missed_at is not null as is_missed,
    coalesce(booked.is_booked, false) as is_booked_within_7_days,
    coalesce(booked.is_recovered, false) as is_recovered_within_7_days
from callers
left join booked
    on
        callers.practice_id = booked.practice_id
        and callers.day = booked.day
        and callers.person = booked.person
