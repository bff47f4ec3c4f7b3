with sessions as (
    select
        sessions.*,
        {{ on_the_wall('sessions', ['created_at', 'updated_at', 'last_activity_at']) }}
    from {{ ref('stg_partner__booking_sessions') }} as sessions
    left join {{ ref('stg_control__practices') }} as practices
        on sessions.practice_id = practices.practice_id
)

select
    *,
    case
        when status = 'completed'
            then {{ minutes_between('created_at', 'coalesce(last_activity_at, updated_at)') }}
    end as minutes_to_complete,
    coalesce(appointment_id, remote_appointment_id) is not null as has_appointment,
    cast(created_at_local as date) as day
from sessions
