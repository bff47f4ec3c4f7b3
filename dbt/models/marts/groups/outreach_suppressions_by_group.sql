with days as (
    {{ in_groups(ref('outreach_suppressions_daily')) }}
)

select
    group_name,
    day,
    purpose,
    suppression_reason,
    {{ total('requests') }} as requests
from days
group by group_name, day, purpose, suppression_reason
