with practices as (
    select * from {{ ref('stg_control__practices') }}
),

windows as (
    select * from {{ ref('stg_control__windows') }}
),

last_run as (
    select
        max_by(finished_at, started_at) as finished_at,
        max_by(source_clock, started_at) as source_clock
    from {{ ref('stg_control__runs') }}
    where source_clock is not null
),

lists as (
    select
        windows.practice_id,
        windows.endpoint,
        -- A list that was never read whole is as old as the first attempt.
        coalesce(
            max(windows.finished_at) filter (where windows.is_certified), min(windows.started_at)
        ) as certified_at
    from windows
    inner join practices
        on windows.practice_id = practices.practice_id
    group by windows.practice_id, windows.endpoint
)

select
    lists.practice_id,
    lists.endpoint,
    lists.certified_at,
    last_run.finished_at - (last_run.source_clock - lists.certified_at) as certified_at_here
from lists
cross join last_run
