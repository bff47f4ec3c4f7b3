with practices as (
    select * from {{ ref('stg_control__practices') }}
),

clock as (
    select * from {{ ref('int_source_clock') }}
)

select
    practices.practice_id,
    practices.name,
    practices.group_name,
    practices.time_zone,
    practices.history_start,
    clock.source_clock as as_of,
    {{ local_time('clock.source_clock', 'practices.time_zone') }} as as_of_local,
    cast({{ local_time('clock.source_clock', 'practices.time_zone') }} as date) as today
from practices
cross join clock
