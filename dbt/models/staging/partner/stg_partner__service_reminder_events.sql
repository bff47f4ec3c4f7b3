with source as (
    select * from {{ source('partner', 'service_reminder_events') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        id as reminder_group_id,
        content_hash,
        nullif(client_id, '') as client_id,
        nullif(remote_client_id, '') as remote_client_id,
        nullif(patient_id, '') as patient_id,
        nullif(remote_patient_id, '') as remote_patient_id,

        -- text
        nullif(notification_rule_name, '') as notification_rule,
        nullif(group_status, '') as status,

        -- numerics
        cast(json_array_length(reminders) as bigint) as reminder_count,

        -- times
        due_at,
        coalesce(timestamp, received_at) as told_at,
        received_at
    from source
)

select * from renamed
