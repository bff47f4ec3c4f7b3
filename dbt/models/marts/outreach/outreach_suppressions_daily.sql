select
    practice_id,
    day,
    purpose,
    suppression_reason,
    count(*) as requests
from {{ ref('outreach_requests') }}
where status = 'suppressed'
group by practice_id, day, purpose, suppression_reason
