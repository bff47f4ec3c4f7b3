with source as (
    select * from {{ source('partner', 'ai_outbound_requests') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        id as request_id,
        nullif(partner_request_id, '') as partner_request_id,
        nullif(client_id, '') as client_id,
        nullif(patient_id, '') as patient_id,

        -- text
        nullif(channel, '') as channel,
        nullif(purpose, '') as purpose,
        nullif(status, '') as status,
        nullif(outcome, '') as outcome,
        nullif(suppression_reason, '') as suppression_reason,
        nullif(error_message, '') as error_message,
        nullif(contact_number, '') as contact_number,
        nullif(context, '') as context,

        -- times
        created_at,
        contacted_at,
        completed_at
    from source
)

select * from renamed
