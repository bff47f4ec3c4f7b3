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
),

-- Who goes back a step is outvoted by those who go on.
closure_0 as (
    select
        seen.stage,
        seen.later_stage
    from seen
    left join seen as back
        on
            seen.stage = back.later_stage
            and seen.later_stage = back.stage
    where seen.times > coalesce(back.times, 0)
),

{% for step in range(4) %}
-- Paths of up to {{ 2 ** (step + 1) }} steps.
closure_{{ step + 1 }} as (
    select * from closure_{{ step }}
    union
    select
        first_half.stage,
        second_half.later_stage
    from closure_{{ step }} as first_half
    inner join closure_{{ step }} as second_half
        on first_half.later_stage = second_half.stage
),
{% endfor %}

stages as (
    select distinct stage
    from versions
),

-- How many of the other stages are known to come before a stage or after it; one way only, or the order is a circle.
placed as (
    select
        stages.stage,
        count(*) filter (where after.stage is not null or before.stage is not null) as compared,
        count(*) filter (where after.stage is not null and before.stage is not null) as contradicted,
        count(*) filter (where before.stage is not null) as position
    from stages
    inner join stages as others
        on stages.stage != others.stage
    left join closure_4 as after
        on
            stages.stage = after.stage
            and others.stage = after.later_stage
    left join closure_4 as before
        on
            stages.stage = before.later_stage
            and others.stage = before.stage
    group by stages.stage
),

counted as (
    select count(*) as stages
    from stages
)

select
    placed.stage,
    placed.position + 1 as position
from placed
cross join counted
where
    placed.compared = counted.stages - 1
    and placed.contradicted = 0
