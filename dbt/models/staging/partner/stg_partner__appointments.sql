with source as (
    select * from {{ source('partner', 'appointments') }}
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
        source.id as appointment_id,
        nullif(source.remote_id, '') as remote_appointment_id,
        nullif(source.remote_client_id, '') as remote_client_id,
        nullif(source.remote_patient_id, '') as remote_patient_id,

        -- text
        nullif(source.status, '') as status,
        nullif(source.client_type, '') as client_type,
        nullif(source.referral_source, '') as referral_source,
        nullif(source.referral_campaign, '') as referral_campaign,
        nullif(source.referral_medium, '') as referral_medium,
        nullif(source.client_first_name, '') as client_first_name,
        nullif(source.client_last_name, '') as client_last_name,
        nullif(source.client_email, '') as client_email,
        nullif(source.client_phone, '') as client_phone,
        nullif(source.patient_name, '') as patient_name,

        -- times
        source.created_at,
        {{ local_time('source.created_at', 'practices.time_zone') }} as created_at_local,
        source.updated_at,
        {{ local_time('source.updated_at', 'practices.time_zone') }} as updated_at_local,
        source.booking_date,
        {{ local_time('source.booking_date', 'practices.time_zone') }} as booking_date_local,
        source.end_date,
        {{ local_time('source.end_date', 'practices.time_zone') }} as end_date_local
    from source
    left join practices
        on source.practice_id = practices.practice_id
)

select * from renamed
