with superseded as (
    select * from {{ source('history', 'staff_tasks') }}
),

latest as (
    select * from {{ source('partner', 'staff_tasks') }}
),

versions as (
    select
        practice_id,
        id as task_id,
        nullif(status, '') as status,
        created_at,
        _valid_from as valid_from,
        _valid_to as valid_to
    from superseded
    union all
    select
        practice_id,
        id as task_id,
        nullif(status, '') as status,
        created_at,
        _loaded_at as valid_from,
        _deleted_at as valid_to
    from latest
)

select * from versions
