{{ config(materialized='table') }}

{%- if var('funnel_stages') -%}
{%- for stage in var('funnel_stages') %}
select
    cast('{{ stage }}' as string) as stage,
    cast({{ loop.index }} as bigint) as position
{{ 'union all' if not loop.last }}
{%- endfor %}
{%- else -%}
with steps as (
    select * from {{ ref('int_booking_stage_steps') }}
),

ways as (
    select * from {{ ref('int_booking_stage_ways') }}
),

stages as (
    select
        stage,
        count(*) as versions
    from {{ ref('stg_history__booking_sessions') }}
    where stage is not null
    group by stage
),

-- The sessions that were seen at both stages decide a pair; only if there was none, a path over other stages
-- decides.
compared as (
    select
        stages.stage,
        others.stage as other,
        stages.versions,
        others.versions as other_versions,
        coalesce(onward.stage is not null, false) as is_seen_before,
        coalesce(back.stage is not null, false) as is_seen_after,
        way_onward.stage is not null as is_before,
        way_back.stage is not null as is_after
    from stages
    inner join stages as others
        on stages.stage != others.stage
    left join steps as onward
        on
            stages.stage = onward.stage
            and others.stage = onward.later_stage
    left join steps as back
        on
            stages.stage = back.later_stage
            and others.stage = back.stage
    left join ways as way_onward
        on
            stages.stage = way_onward.stage
            and others.stage = way_onward.later_stage
    left join ways as way_back
        on
            stages.stage = way_back.later_stage
            and others.stage = way_back.stage
),

judged as (
    select
        stage,
        other,
        versions,
        other_versions,
        case
            when is_seen_before or is_seen_after then is_seen_after
            when is_before != is_after then is_after
        end as comes_after_other
    from compared
),

-- If two stages cannot be compared, the stage that was seen less is left out.
set_aside as (
    select distinct stage
    from judged
    where
        comes_after_other is null
        and (versions < other_versions or (versions = other_versions and stage > other))
),

placed as (
    select
        judged.stage,
        1 + count(*) filter (where judged.comes_after_other) as position
    from judged
    left join set_aside
        on judged.stage = set_aside.stage
    left join set_aside as other_aside
        on judged.other = other_aside.stage
    where
        set_aside.stage is null
        and other_aside.stage is null
    group by judged.stage
),

-- If the majority goes in a circle, there is no order.
circles as (
    select count(*) != count(distinct position) as is_circle
    from placed
)

select
    placed.stage,
    placed.position
from placed
cross join circles
where not circles.is_circle
{%- endif %}
