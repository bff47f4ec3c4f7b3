with requests as (
    select
        episodes.practice_id,
        episodes.day,
        episodes.first_channel,
        appointments.booking_date is not null as has_visit,
        {{ hours_between('episodes.first_at', 'appointments.booking_date') }} / 24 as days
    from {{ ref('int_booking_requests') }} as episodes
    left join {{ ref('int_appointments_identified') }} as appointments
        on
            episodes.practice_id = appointments.practice_id
            and episodes.appointment_id = appointments.appointment_id
    where
        episodes.begun_by = 'client'
        and episodes.booked_at is not null
)

select
    practice_id,
    day,
    first_channel,
    count(*) as booked,
    count(*) filter (where has_visit) as with_visit,
    count(*) filter (where days <= 1) as seen_within_1_day,
    count(*) filter (where days <= 7) as seen_within_7_days,
    count(*) filter (where days <= 14) as seen_within_14_days,
    {{ median('days') }} as median_days_to_visit
from requests
group by practice_id, day, first_channel
