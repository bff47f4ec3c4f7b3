{{ config(materialized='table') }}

with wishes as (
    select * from {{ ref('int_caller_day_facts') }}
    where wished_at is not null
),

bookings as (
    select * from {{ ref('int_party_bookings') }}
)

select
    wishes.practice_id,
    wishes.day,
    wishes.party,
    bool_or({{ hours_between('wishes.wished_at', 'bookings.booked_at') }} between 0 and 7 * 24) as is_booked,
    bool_or({{ hours_between('wishes.missed_at', 'bookings.booked_at') }} between 0 and 7 * 24) as is_recovered
from wishes
inner join bookings
    on
        wishes.practice_id = bookings.practice_id
        and wishes.party = bookings.party
where
    {{ hours_between('wishes.wished_at', 'bookings.booked_at') }} >= 0
    and {{ hours_between('coalesce(wishes.missed_at, wishes.wished_at)', 'bookings.booked_at') }} <= 7 * 24
group by wishes.practice_id, wishes.day, wishes.party
