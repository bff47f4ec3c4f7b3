with messages as (
    select
        messages.*,
        {{ on_the_wall('messages', ['created_at', 'sent_at', 'delivered_at', 'read_at', 'failed_at']) }}
    from {{ ref('stg_partner__messages') }} as messages
    left join {{ ref('stg_control__practices') }} as practices
        on messages.practice_id = practices.practice_id
)

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
from messages
