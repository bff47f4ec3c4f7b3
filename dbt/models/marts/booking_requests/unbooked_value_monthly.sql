with unbooked as (
    select
        practice_id,
        cast(date_trunc('month', day) as date) as month
    from {{ ref('int_booking_requests') }}
    where
        begun_by = 'client'
        and booked_at is null
        and not is_anonymous
)

select
    practice_id,
    month,
    count(*) as unbooked_requests,
    cast({{ assumed_value('practice_id', 0) }} * count(*) as double) as assumed_value_low,
    cast({{ assumed_value('practice_id', 1) }} * count(*) as double) as assumed_value_high
from unbooked
group by practice_id, month
