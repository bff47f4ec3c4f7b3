with source as (
    select * from {{ source('partner', 'appointments') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        id as appointment_id,
        nullif(remote_id, '') as remote_appointment_id,
        nullif(remote_client_id, '') as remote_client_id,
        nullif(remote_patient_id, '') as remote_patient_id,

        -- text
        nullif(status, '') as status,
        nullif(client_type, '') as client_type,
        nullif(referral_source, '') as referral_source,
        nullif(referral_campaign, '') as referral_campaign,
        nullif(referral_medium, '') as referral_medium,
        nullif(client_first_name, '') as client_first_name,
        nullif(client_last_name, '') as client_last_name,
        nullif(client_email, '') as client_email,
        nullif(client_phone, '') as client_phone,
        nullif(patient_name, '') as patient_name,

        -- times
        created_at,
        updated_at,
        booking_date,
        end_date
    from source
)

select * from renamed
