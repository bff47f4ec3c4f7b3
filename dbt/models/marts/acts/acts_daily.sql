select
    practice_id,
    day,
    kind,
    count(*) filter (where not holdout) as acts,
    count(*) filter (where not holdout and booked_within_14_days) as acts_booked,
    {{ rate('count(*) filter (where not holdout and booked_within_14_days)', 'count(*) filter (where not holdout)') }} as acts_booked_rate,
    count(*) filter (where holdout) as held_out,
    count(*) filter (where holdout and booked_within_14_days) as held_out_booked,
    {{ rate('count(*) filter (where holdout and booked_within_14_days)', 'count(*) filter (where holdout)') }} as held_out_booked_rate,
    bool_and(is_mature) as is_mature
from {{ ref('acts') }}
group by practice_id, day, kind
