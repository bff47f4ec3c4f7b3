with days as (
    {{ in_groups(ref('booking_funnel_stages')) }}
),

added as (
    select
        group_name,
        day,
        stage,
        position,
        {{ total('sessions') }} as sessions,
        {{ total('reached') }} as reached,
        {{ total('continued') }} as continued
    from days
    group by group_name, day, stage, position
)

select
    group_name,
    day,
    stage,
    position,
    sessions,
    reached,
    continued,
    {{ rate('reached - continued', 'reached') }} as drop_off_rate
from added
