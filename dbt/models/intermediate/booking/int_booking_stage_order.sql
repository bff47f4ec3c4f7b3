{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['stage']) }}

with reach_0 as (
    select * from {{ ref('int_booking_stage_steps') }}
),

{% for step in range(4) %}
-- Paths of up to {{ 2 ** (step + 1) }} steps.
reach_{{ step + 1 }} as (
    select distinct
        first_half.stage,
        second_half.later_stage
    from reach_{{ step }} as first_half
    inner join reach_{{ step }} as second_half
        on first_half.later_stage = second_half.stage
),
{% endfor %}

pairs as (
    select
        stage,
        later_stage as other,
        true as is_before_other
    from reach_4
    where stage != later_stage
    union all
    select
        later_stage as stage,
        stage as other,
        false as is_before_other
    from reach_4
    where stage != later_stage
),

-- One way only, or the order is a circle.
compared as (
    select
        stage,
        other,
        bool_or(is_before_other) as is_before,
        bool_or(not is_before_other) as is_after
    from pairs
    group by stage, other
),

placed as (
    select
        stage,
        count(*) as others,
        count(*) filter (where is_before and is_after) as contradicted,
        count(*) filter (where is_after) as earlier
    from compared
    group by stage
),

counted as (
    select count(distinct stage) as stages
    from reach_0
),

-- Two stages in doubt are enough to leave all without a place: also those that compare with every other one.
doubts as (
    select count(*) as stages
    from placed
    cross join counted
    where
        placed.others != counted.stages - 1
        or placed.contradicted > 0
)

select
    placed.stage,
    placed.earlier + 1 as position
from placed
cross join doubts
where doubts.stages = 0
