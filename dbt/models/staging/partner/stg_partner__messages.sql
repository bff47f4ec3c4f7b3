with source as (
    select * from {{ source('partner', 'messages') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        id as message_id,
        nullif(reference_id, '') as reference_id,
        nullif(client_id, '') as client_id,

        -- text
        nullif(status, '') as status,
        nullif(status_reason, '') as status_reason,
        nullif(channel_requested, '') as channel_requested,
        nullif(channel_used, '') as channel_used,
        nullif(error_code, '') as error_code,
        nullif(error_message, '') as error_message,

        -- times
        created_at,
        sent_at,
        delivered_at,
        read_at,
        failed_at
    from source
)

select * from renamed
