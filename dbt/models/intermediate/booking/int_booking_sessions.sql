select
    -- ids
    practice_id,
    session_id,
    appointment_id,
    remote_appointment_id,

    -- text
    status,
    stage,
    client_type,
    referral_source,
    referral_campaign,
    referral_medium,

    -- numerics
    case
        when status = 'completed'
            then {{ minutes_between('created_at', 'coalesce(last_activity_at, updated_at)') }}
    end as minutes_to_complete,

    -- booleans
    coalesce(appointment_id, remote_appointment_id) is not null as has_appointment,

    -- times
    cast(created_at_local as date) as day,
    created_at,
    created_at_local,
    updated_at,
    updated_at_local,
    last_activity_at,
    last_activity_at_local
from {{ ref('stg_partner__booking_sessions') }}
