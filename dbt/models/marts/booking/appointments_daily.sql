with appointments as (
    select * from {{ ref('appointments') }}
),

-- The share with a known origin, of all appointments of the day.
days as (
    select
        practice_id,
        day,
        {{ rate('count(booked_via)', 'count(*)') }} as share_attributable
    from appointments
    group by practice_id, day
),

counted as (
    select
        practice_id,
        day,
        booked_via,
        count(*) as appointments,
        count(*) filter (where attendance = 'kept') as kept,
        count(*) filter (where attendance = 'canceled') as canceled,
        count(*) filter (where attendance = 'no_show') as no_show,
        count(*) filter (where attendance = 'open') as open,
        count(*) filter (where attribution = 'exact') as booked_exactly
    from appointments
    group by practice_id, day, booked_via
)

select
    counted.practice_id,
    counted.day,
    counted.booked_via,
    counted.appointments,
    counted.kept,
    counted.canceled,
    counted.no_show,
    counted.open,
    counted.booked_exactly,
    days.share_attributable
from counted
inner join days
    on
        counted.practice_id = days.practice_id
        and counted.day is not distinct from days.day
