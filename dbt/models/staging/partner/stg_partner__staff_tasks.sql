with source as (
    select * from {{ source('partner', 'staff_tasks') }}
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
        source.id as task_id,
        nullif(source.client_id, '') as client_id,
        nullif(source.patient_id, '') as patient_id,

        -- text
        nullif(source.task_type, '') as task_type,
        nullif(source.status, '') as status,
        nullif(source.title, '') as title,
        nullif(source.description, '') as description,
        nullif(source.override_completion_action_text, '') as override_completion_action_text,

        -- booleans
        source.cancellation_allowed,

        -- times
        source.created_at,
        {{ local_time('source.created_at', 'practices.time_zone') }} as created_at_local,
        source.updated_at,
        {{ local_time('source.updated_at', 'practices.time_zone') }} as updated_at_local,
        source.finalized_at,
        {{ local_time('source.finalized_at', 'practices.time_zone') }} as finalized_at_local,
        source.reference_time_at,
        {{ local_time('source.reference_time_at', 'practices.time_zone') }} as reference_time_at_local
    from source
    left join practices
        on source.practice_id = practices.practice_id
)

select * from renamed
