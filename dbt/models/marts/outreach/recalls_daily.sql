select
    practice_id,
    day,
    count(*) as reminders,
    count(*) filter (where is_booked_before) as booked_before,
    count(*) filter (where not is_booked_before and is_booked_after) as booked_after,
    count(*) filter (where state = 'overdue') as overdue,
    {{ rate('count(*) filter (where is_booked_before or is_booked_after)', 'count(*)') }} as booked_rate
from {{ ref('recalls') }}
group by practice_id, day
