{{ config(materialized='table') }}

with callers as (
    select
        practice_id,
        day,
        party,
        min(called_at) filter (where is_new_booking_intent) as wished_at,
        min(called_at) filter (where is_missed_new_booking) as missed_at
    from {{ ref('int_calls_identified') }}
    where is_inbound
    group by practice_id, day, party
),

-- What the party was booked: in a contact, or as an appointment, whoever made it.
bookings as (
    select
        practice_id,
        party,
        booked_at
    from {{ ref('int_demand_parties') }}
    where is_booked
    union all
    select
        practice_id,
        party,
        created_at as booked_at
    from {{ ref('int_appointments_identified') }}
    where party is not null
),

booked as (
    select
        callers.practice_id,
        callers.day,
        callers.party,
        bool_or({{ hours_between('callers.wished_at', 'bookings.booked_at') }} between 0 and 7 * 24) as is_booked,
        bool_or({{ hours_between('callers.missed_at', 'bookings.booked_at') }} between 0 and 7 * 24) as is_recovered
    from callers
    inner join bookings
        on
            callers.practice_id = bookings.practice_id
            and callers.party = bookings.party
    where callers.wished_at is not null
    group by callers.practice_id, callers.day, callers.party
)

select
    callers.practice_id,
    callers.day,
    cast(date_trunc('week', callers.day) as date) as week,
    callers.party,
    callers.wished_at is not null as has_wished,
    callers.missed_at is not null as is_missed,
    coalesce(booked.is_booked, false) as is_booked_within_7_days,
    coalesce(booked.is_recovered, false) as is_recovered_within_7_days
from callers
left join booked
    on
        callers.practice_id = booked.practice_id
        and callers.day = booked.day
        and callers.party = booked.party
