with sessions as (
    select * from {{ ref('booking_sessions') }}
),

stage_order as (
    select
        cast(null as string) as stage,
        cast(null as bigint) as position
    {%- for stage in var('booking_stages') %}
    union all
    select
        '{{ stage }}' as stage,
        {{ loop.index }} as position
    {%- endfor %}
),

-- A session was at the stage at which it was seen last, and at each stage before that.
visits as (
    select
        practice_id,
        day,
        stage,
        true as is_last,
        status = 'completed' as has_continued
    from sessions
    union all
    select
        sessions.practice_id,
        sessions.day,
        earlier.stage,
        false as is_last,
        true as has_continued
    from sessions
    inner join stage_order as reached
        on sessions.stage = reached.stage
    inner join stage_order as earlier
        on reached.position > earlier.position
),

counted as (
    select
        practice_id,
        day,
        stage,
        count(*) filter (where is_last) as sessions,
        count(*) as reached,
        count(*) filter (where has_continued) as continued
    from visits
    group by practice_id, day, stage
),

-- If the order is unknown, the sessions that passed a stage are unknown too.
judged as (
    select
        counted.practice_id,
        counted.day,
        counted.stage,
        stage_order.position,
        counted.sessions,
        case when stage_order.position is not null then counted.reached end as reached,
        case when stage_order.position is not null then counted.continued end as continued
    from counted
    left join stage_order
        on counted.stage = stage_order.stage
)

select
    practice_id,
    day,
    stage,
    position,
    sessions,
    reached,
    continued,
    {{ rate('reached - continued', 'reached') }} as drop_off_rate
from judged
