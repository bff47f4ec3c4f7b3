with source as (
    select * from {{ source('partner', 'service_reminder_events') }}
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
        source.id as reminder_group_id,
        source.content_hash,
        nullif(source.client_id, '') as client_id,
        nullif(source.remote_client_id, '') as remote_client_id,
        nullif(source.patient_id, '') as patient_id,
        nullif(source.remote_patient_id, '') as remote_patient_id,

        -- text
        nullif(source.notification_rule_name, '') as notification_rule,
        nullif(source.group_status, '') as status,

        -- numerics
        cast(json_array_length(source.reminders) as bigint) as reminder_count,

        -- times
        source.due_at,
        {{ local_time('source.due_at', 'practices.time_zone') }} as due_at_local,
        coalesce(source.timestamp, source.received_at) as told_at,
        source.received_at,
        {{ local_time('source.received_at', 'practices.time_zone') }} as received_at_local
    from source
    left join practices
        on source.practice_id = practices.practice_id
)

select * from renamed
