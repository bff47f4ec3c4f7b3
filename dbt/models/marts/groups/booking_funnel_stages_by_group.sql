{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['group_name', 'day', 'stage', 'position'],
) }}
{%- if is_incremental() %}{{ set_scope(days_of_groups(ref('booking_funnel_stages'))) }}{% endif %}

with days as (
    select * from {{ in_scope('(' ~ in_groups(ref('booking_funnel_stages')) ~ ')', ['group_name', 'day']) }}
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
