select
    *,
    case
        when status = 'completed'
            then {{ minutes_between('created_at', 'coalesce(last_activity_at, updated_at)') }}
    end as minutes_to_complete,
    coalesce(appointment_id, remote_appointment_id) is not null as has_appointment,
    cast(created_at_local as date) as day
from {{ ref('stg_partner__booking_sessions') }}
