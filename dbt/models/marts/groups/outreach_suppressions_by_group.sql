{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['group_name', 'day', 'purpose', 'suppression_reason'],
) }}
{%- if is_incremental() %}{{ set_scope(days_of_groups(ref('outreach_suppressions_daily'))) }}{% endif %}

with days as (
    select * from {{ in_scope('(' ~ in_groups(ref('outreach_suppressions_daily')) ~ ')', ['group_name', 'day']) }}
)

select
    group_name,
    day,
    purpose,
    suppression_reason,
    {{ total('requests') }} as requests
from days
group by group_name, day, purpose, suppression_reason
