with source as (
    select * from {{ source('control', 'quarantine') }}
),

renamed as (
    select
        practice_id,
        endpoint,
        row_key,
        reason,
        first_seen as first_seen_at,
        resolved_at
    from source
)

select * from renamed
