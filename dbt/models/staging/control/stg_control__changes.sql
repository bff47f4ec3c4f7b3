with source as (
    select * from {{ source('control', 'changes') }}
),

renamed as (
    select distinct
        practice_id,
        table_name,
        day
    from source
)

select * from renamed
