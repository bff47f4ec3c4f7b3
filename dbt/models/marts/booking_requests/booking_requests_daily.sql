select
    practice_id,
    day,
    first_channel,
    begun_by,
    count(*) as episodes,
    count(*) filter (where hours_to_booking <= 1 * 24) as booked_within_1_day,
    count(*) filter (where hours_to_booking <= 7 * 24) as booked_within_7_days,
    count(*) filter (where hours_to_booking <= 14 * 24) as booked_within_14_days,
    count(*) filter (where is_kept) as kept,
    count(*) filter (where booked_at is null) as not_booked,
    count(*) filter (where lost_at is not null) as lost,
    bool_and(is_mature) as is_mature,
    count(*) filter (where is_anonymous) as anonymous,
    count(*) filter (where is_anonymous and booked_at is null) as anonymous_not_booked
from {{ ref('int_booking_requests') }}
group by practice_id, day, first_channel, begun_by
