with counted as (
    select
        practice_id,
        day,
        kind,
        count(*) filter (where not holdout) as acts,
        count(*) filter (where not holdout and booked_within_14_days) as acts_booked,
        count(*) filter (where holdout) as held_out,
        count(*) filter (where holdout and booked_within_14_days) as held_out_booked,
        bool_and(is_mature) as is_mature
    from {{ ref('acts') }}
    group by practice_id, day, kind
)

select
    practice_id,
    day,
    kind,
    acts,
    acts_booked,
    {{ rate('acts_booked', 'acts') }} as acts_booked_rate,
    held_out,
    held_out_booked,
    {{ rate('held_out_booked', 'held_out') }} as held_out_booked_rate,
    is_mature
from counted
