with source as (
    select * from {{ source('partner', 'outreach_events') }}
    where _deleted_at is null
),

renamed as (
    select
        practice_id,
        request_id,
        nullif(appointment_id, '') as appointment_id,
        nullif(status, '') as status,
        nullif(outcome, '') as outcome,
        completed_at,
        received_at
    from source
)

select * from renamed
