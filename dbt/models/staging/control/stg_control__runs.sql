with source as (
    select * from {{ source('control', 'runs') }}
),

renamed as (
    select
        run_id,
        command,
        started_at,
        finished_at,
        source_clock,
        exit_code
    from source
)

select * from renamed
