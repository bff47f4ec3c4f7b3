with versions as (
    select * from {{ ref('stg_history__booking_sessions') }}
    where stage is not null
)

-- A session that was seen at one stage and later at another. All pairs, not only neighbours: a sync sees some of them.
select
    earlier.practice_id,
    earlier.session_id,
    earlier.stage,
    later.stage as later_stage,
    count(*) as times
from versions as earlier
inner join versions as later
    on
        earlier.practice_id = later.practice_id
        and earlier.session_id = later.session_id
        and earlier.valid_from < later.valid_from
        and earlier.stage != later.stage
group by earlier.practice_id, earlier.session_id, earlier.stage, later.stage
