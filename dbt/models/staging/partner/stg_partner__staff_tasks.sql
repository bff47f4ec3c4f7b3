with source as (
    select * from {{ source('partner', 'staff_tasks') }}
    where _deleted_at is null
),

renamed as (
    select
        -- ids
        practice_id,
        id as task_id,
        nullif(client_id, '') as client_id,
        nullif(patient_id, '') as patient_id,

        -- text
        nullif(task_type, '') as task_type,
        nullif(status, '') as status,
        nullif(title, '') as title,
        nullif(description, '') as description,
        nullif(override_completion_action_text, '') as override_completion_action_text,

        -- booleans
        cancellation_allowed,

        -- times
        created_at,
        updated_at,
        finalized_at,
        reference_time_at
    from source
)

select * from renamed
