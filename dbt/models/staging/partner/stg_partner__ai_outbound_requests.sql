with source as (
    select * from {{ source('partner', 'ai_outbound_requests') }}
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
        source.id as request_id,
        nullif(source.partner_request_id, '') as partner_request_id,
        nullif(source.client_id, '') as client_id,
        nullif(source.patient_id, '') as patient_id,

        -- text
        nullif(source.channel, '') as channel,
        nullif(source.purpose, '') as purpose,
        nullif(source.status, '') as status,
        nullif(source.outcome, '') as outcome,
        nullif(source.suppression_reason, '') as suppression_reason,
        nullif(source.error_message, '') as error_message,
        nullif(source.contact_number, '') as contact_number,
        nullif(source.context, '') as context,

        -- times
        source.created_at,
        {{ local_time('source.created_at', 'practices.time_zone') }} as created_at_local,
        source.contacted_at,
        {{ local_time('source.contacted_at', 'practices.time_zone') }} as contacted_at_local,
        source.completed_at,
        {{ local_time('source.completed_at', 'practices.time_zone') }} as completed_at_local
    from source
    left join practices
        on source.practice_id = practices.practice_id
)

select * from renamed
