{{ config(materialized='table') }}

-- A practice is as old as its oldest list: until then all areas are known. A withdrawn list stays as it is, and
-- clients and patients are only looked up.
with lists as (
    select
        practice_id,
        min(read_at) as as_of
    from {{ ref('int_lists_read') }}
    where
        not is_withdrawn
        and endpoint not in ('clients', 'patients')
    group by practice_id
)

select
    practices.practice_id,
    practices.name,
    practices.group_name,
    practices.time_zone,
    practices.history_start,
    lists.as_of,
    {{ local_time('lists.as_of', 'practices.time_zone') }} as as_of_local,
    cast({{ local_time('lists.as_of', 'practices.time_zone') }} as date) as today
from {{ ref('stg_control__practices') }} as practices
left join lists
    on practices.practice_id = lists.practice_id
