with source as (
    select * from {{ source('control', 'headlines') }}
),

renamed as (
    select
        practice_id,
        measure,
        since,
        until,
        first_seen,
        direction,
        value,
        usual,
        people,
        sureness,
        rank,
        made_of,
        part,
        words
    from source
)

select * from renamed
