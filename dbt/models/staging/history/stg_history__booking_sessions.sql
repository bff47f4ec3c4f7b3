with superseded as (
    select * from {{ source('history', 'booking_sessions') }}
),

latest as (
    select * from {{ source('partner', 'booking_sessions') }}
),

practices as (
    select
        id as practice_id,
        time_zone
    from {{ source('control', 'practices') }}
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
    versions.practice_id,
    versions.id as session_id,
    nullif(versions.status, '') as status,
    coalesce(nullif(versions.appointment_id, ''), nullif(versions.remote_appointment_id, ''))
    is not null as has_appointment,
    cast({{ local_time('versions.created_at', 'practices.time_zone') }} as date) as day,
    versions.created_at,
    versions.valid_from,
    versions.valid_to
from versions
left join practices
    on versions.practice_id = practices.practice_id
