with source as (
    select * from {{ source('control', 'practices') }}
),

renamed as (
    select
        id as practice_id,
        name,
        nullif(group_name, '') as group_name,
        time_zone,
        history_start
    from source
)

select * from renamed
