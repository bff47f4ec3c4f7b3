with source as (
    select * from {{ source('partner', 'messages') }}
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
        source.id as message_id,
        nullif(source.reference_id, '') as reference_id,
        nullif(source.client_id, '') as client_id,

        -- text
        nullif(source.status, '') as status,
        nullif(source.status_reason, '') as status_reason,
        nullif(source.channel_requested, '') as channel_requested,
        nullif(source.channel_used, '') as channel_used,
        nullif(source.error_code, '') as error_code,
        nullif(source.error_message, '') as error_message,

        -- times
        source.created_at,
        {{ local_time('source.created_at', 'practices.time_zone') }} as created_at_local,
        source.sent_at,
        {{ local_time('source.sent_at', 'practices.time_zone') }} as sent_at_local,
        source.delivered_at,
        {{ local_time('source.delivered_at', 'practices.time_zone') }} as delivered_at_local,
        source.read_at,
        {{ local_time('source.read_at', 'practices.time_zone') }} as read_at_local,
        source.failed_at,
        {{ local_time('source.failed_at', 'practices.time_zone') }} as failed_at_local
    from source
    left join practices
        on source.practice_id = practices.practice_id
)

select * from renamed
