with seen as (
    select
        stage,
        later_stage,
        sum(times) as times
    from {{ ref('int_session_stages') }}
    group by stage, later_stage
)

-- Sessions that go back a step are outvoted by those that go on.
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
from {{ ref('stg_history__booking_sessions') }}
where stage is not null
