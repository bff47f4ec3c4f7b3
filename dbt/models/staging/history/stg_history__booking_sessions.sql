with superseded as (
    select * from {{ source('history', 'booking_sessions') }}
),

latest as (
    select * from {{ source('partner', 'booking_sessions') }}
),

versions as (
    select
        practice_id,
        id,
        appointment_id,
        remote_appointment_id,
        status,
        created_at,
        _valid_from as valid_from,
        _valid_to as valid_to
    from superseded
    union all
    select
        practice_id,
        id,
        appointment_id,
        remote_appointment_id,
        status,
        created_at,
        _loaded_at as valid_from,
        _deleted_at as valid_to
    from latest
)

select
    practice_id,
    id as session_id,
    nullif(status, '') as status,
    coalesce(nullif(appointment_id, ''), nullif(remote_appointment_id, '')) is not null as has_appointment,
    created_at,
    valid_from,
    valid_to
from versions
