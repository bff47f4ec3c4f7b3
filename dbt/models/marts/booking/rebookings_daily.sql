with visits as (
    select
        appointments.*,
        practices.time_zone,
        practices.as_of
    from {{ ref('int_appointments_identified') }} as appointments
    left join {{ ref('practices') }} as practices
        on appointments.practice_id = practices.practice_id
    where
        appointments.is_kept
        and appointments.person is not null
        and appointments.booking_date is not null
),

-- The other appointments of the same client or number that lie after the visit.
following as (
    select
        visits.practice_id,
        visits.appointment_id,
        bool_or(
            later.created_at < visits.booking_date
            and later.attendance != 'canceled'
        ) as is_booked_before,
        bool_or(
            later.created_at >= visits.booking_date
            and cast({{ local_time('later.created_at', 'visits.time_zone') }} as date)
            = cast({{ local_time('visits.booking_date', 'visits.time_zone') }} as date)
        ) as is_booked_on_the_day,
        bool_or(
            later.created_at >= visits.booking_date
            and {{ hours_between('visits.booking_date', 'later.created_at') }} <= 30 * 24
        ) as is_booked_within_30_days
    from visits
    inner join {{ ref('int_appointments_identified') }} as later
        on
            visits.practice_id = later.practice_id
            and visits.person = later.person
            and visits.appointment_id != later.appointment_id
            and visits.booking_date < later.booking_date
    group by visits.practice_id, visits.appointment_id
)

select
    visits.practice_id,
    cast(visits.booking_date_local as date) as day,
    count(*) as kept_visits,
    count(*) filter (where following.is_booked_before) as booked_before,
    count(*) filter (
        where following.is_booked_before or following.is_booked_on_the_day
    ) as booked_when_leaving,
    count(*) filter (
        where following.is_booked_before or following.is_booked_within_30_days
    ) as booked_within_30_days,
    bool_and(coalesce({{ hours_between('visits.booking_date', 'visits.as_of') }} >= 30 * 24, false)) as is_mature
from visits
left join following
    on
        visits.practice_id = following.practice_id
        and visits.appointment_id = following.appointment_id
group by visits.practice_id, cast(visits.booking_date_local as date)
