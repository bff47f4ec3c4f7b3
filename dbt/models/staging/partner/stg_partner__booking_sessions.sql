with source as (
    select * from {{ source('partner', 'booking_sessions') }}
    where _deleted_at is null
),

practices as (
    select
        id as practice_id,
        time_zone
    from {{ source('control', 'practices') }}
),

renamed as (
    select
        -- ids
        source.practice_id,
        source.id as session_id,
        nullif(source.appointment_id, '') as appointment_id,
        nullif(source.remote_appointment_id, '') as remote_appointment_id,

        -- text
        nullif(source.status, '') as status,
        nullif(source.stage, '') as stage,
        nullif(source.client_type, '') as client_type,
        nullif(source.referral_source, '') as referral_source,
        nullif(source.referral_campaign, '') as referral_campaign,
        nullif(source.referral_medium, '') as referral_medium,

        -- times
        source.created_at,
        {{ local_time('source.created_at', 'practices.time_zone') }} as created_at_local,
        source.updated_at,
        {{ local_time('source.updated_at', 'practices.time_zone') }} as updated_at_local,
        source.last_activity_at,
        {{ local_time('source.last_activity_at', 'practices.time_zone') }} as last_activity_at_local
    from source
    left join practices
        on source.practice_id = practices.practice_id
)

select * from renamed
