with source as (
    select * from {{ source('partner', 'booking_sessions') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        id as session_id,
        nullif(appointment_id, '') as appointment_id,
        nullif(remote_appointment_id, '') as remote_appointment_id,

        -- text
        nullif(status, '') as status,
        nullif(stage, '') as stage,
        nullif(client_type, '') as client_type,
        nullif(referral_source, '') as referral_source,
        nullif(referral_campaign, '') as referral_campaign,
        nullif(referral_medium, '') as referral_medium,

        -- times
        created_at,
        updated_at,
        last_activity_at
    from source
)

select * from renamed
