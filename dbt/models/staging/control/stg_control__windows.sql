with source as (
    select * from {{ source('control', 'windows') }}
),

renamed as (
    select
        practice_id,
        endpoint,
        run_id,
        kind,
        window_start,
        window_end,
        status,
        total_last,
        certified as is_certified,
        reason,
        started_at,
        finished_at
    from source
)

select * from renamed
