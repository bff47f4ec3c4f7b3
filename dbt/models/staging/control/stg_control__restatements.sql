with source as (
    select * from {{ source('control', 'restatements') }}
),

renamed as (
    select
        practice_id,
        endpoint,
        row_key,
        kind,
        noticed_at
    from source
)

select * from renamed
