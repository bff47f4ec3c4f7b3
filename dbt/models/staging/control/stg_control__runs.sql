with source as (
    select * from {{ source('control', 'runs') }}
),

renamed as (
    select
        run_id,
        started_at,
        finished_at,
        source_clock
    from source
)

select * from renamed
