with source as (
    select
        run_id,
        {{ each_record('summary', '$.results', 'practice_id endpoint state') }} as list
    from {{ source('control', 'runs') }}
),

renamed as (
    select
        source.run_id,
        source.list.practice_id,
        source.list.endpoint,
        source.list.state
    from source
)

select * from renamed
