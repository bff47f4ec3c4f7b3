with events as (
    select * from {{ ref('stg_partner__service_reminder_events') }}
),

-- What came last holds.
latest as (
    select
        *,
        count(*) over (partition by practice_id, reminder_group_id) as versions,
        min(received_at) over (partition by practice_id, reminder_group_id) as first_received_at
    from events
    qualify row_number() over (
        partition by practice_id, reminder_group_id
        order by received_at desc nulls last, content_hash asc
    ) = 1
)

select
    -- ids
    practice_id,
    reminder_group_id,
    client_id,
    remote_client_id,
    patient_id,
    remote_patient_id,

    -- text
    notification_rule,
    status,

    -- numerics
    reminder_count,
    versions,

    -- times
    cast(received_at_local as date) as day,
    due_at,
    due_at_local,
    first_received_at,
    received_at,
    received_at_local
from latest
