with callers as (
    select * from {{ ref('int_caller_day_facts') }}
)

select
    callers.practice_id,
    callers.day,
    cast(date_trunc('week', callers.day) as date) as week,
    callers.person,
    callers.wanted_at is not null as wants_booking,
    callers.missed_at is not null as is_missed,
    coalesce(booked.is_booked, false) as is_booked_within_7_days,
    coalesce(booked.is_recovered, false) as is_recovered_within_7_days
from callers
left join {{ ref('int_caller_bookings') }} as booked
    on
        callers.practice_id = booked.practice_id
        and callers.day = booked.day
        and callers.person = booked.person
