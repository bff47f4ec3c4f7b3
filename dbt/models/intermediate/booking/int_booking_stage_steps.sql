with versions as (
    select * from {{ ref('stg_history__booking_sessions') }}
    where stage is not null
),

-- A session that was seen at one stage and later at another. All pairs, not only neighbours: a sync sees some of them.
seen as (
    select
        earlier.stage,
        later.stage as later_stage,
        count(*) as times
    from versions as earlier
    inner join versions as later
        on
            earlier.practice_id = later.practice_id
            and earlier.session_id = later.session_id
            and earlier.valid_from < later.valid_from
            and earlier.stage != later.stage
    group by earlier.stage, later.stage
)

-- Who goes back a step is outvoted by those who go on.
select
    seen.stage,
    seen.later_stage
from seen
left join seen as back
    on
        seen.stage = back.later_stage
        and seen.later_stage = back.stage
where seen.times > coalesce(back.times, 0)
union
select
    stage,
    stage as later_stage
from versions
