select
    -- ids
    practice_id,
    message_id,
    reference_id,
    client_id,

    -- text
    status,
    status_reason,
    channel_requested,
    channel_used,
    error_code,
    error_message,

    -- numerics
    {{ minutes_between('sent_at', 'delivered_at') }} as minutes_to_deliver,
    {{ minutes_between('sent_at', 'read_at') }} as minutes_to_read,

    -- booleans: by status alone, since a message that was delivered may carry an error of its RCS attempt
    coalesce(status in ('sent', 'delivered', 'read', 'failed'), false) as is_sent,
    coalesce(status in ('delivered', 'read'), false) as is_delivered,
    coalesce(status = 'read', false) as is_read,
    coalesce(status = 'failed', false) as is_failed,

    -- times
    cast(created_at_local as date) as day,
    created_at,
    created_at_local,
    sent_at,
    sent_at_local,
    delivered_at,
    delivered_at_local,
    read_at,
    read_at_local,
    failed_at,
    failed_at_local
from {{ ref('stg_partner__messages') }}
