with source as (
    select * from {{ source('control', 'acts') }}
),

renamed as (
    select
        practice_id,
        code,
        kind,
        episode_id,
        state,
        planned_at,
        asked_at as sent_at,
        approved_by,
        certified_through,
        task_id,
        found_by
    from source
)

select * from renamed
