with source as (
    select * from {{ source('partner', 'phone_calls') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        call_key,
        id as call_id,
        nullif(client_id, '') as client_id,
        nullif(remote_client_id, '') as remote_client_id,
        nullif(patient_id, '') as patient_id,
        nullif(remote_patient_id, '') as remote_patient_id,

        -- text
        nullif(practice, '') as practice_name,
        nullif(direction, '') as direction,
        nullif(state, '') as state,
        nullif(caller_type, '') as caller_type,
        nullif(call_classification, '') as call_classification,
        nullif(customer_sentiment, '') as customer_sentiment,
        nullif(outcome, '') as outcome,
        nullif(client_name, '') as client_name,
        nullif(patient_name, '') as patient_name,
        nullif(phone_number, '') as phone_number,
        nullif(summary, '') as summary,

        -- numerics
        duration_seconds,

        -- booleans
        booking_intent,
        booked,

        -- times; the source renders the local one, so it does not depend on the configured zone
        call_date as day,
        called_at_local,
        called_at,
        created_at
    from source
)

select * from renamed
