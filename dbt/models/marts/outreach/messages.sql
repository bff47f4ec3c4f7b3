select
    *,
    {{ minutes_between('sent_at', 'delivered_at') }} as minutes_to_deliver,
    {{ minutes_between('sent_at', 'read_at') }} as minutes_to_read,

    -- By status alone, since a message that was delivered may carry an error of its RCS attempt.
    coalesce(status in ('sent', 'delivered', 'read', 'failed'), false) as is_sent,
    coalesce(status in ('delivered', 'read'), false) as is_delivered,
    coalesce(status = 'read', false) as is_read,
    coalesce(status = 'failed', false) as is_failed,

    cast(created_at_local as date) as day
from {{ ref('stg_partner__messages') }}
