-- A table: it is small, and the practices' days are read often.
{{ config(materialized='table') }}

select
    lists.practice_id,
    lists.endpoint,
    max(runs.source_clock) filter (where lists.state in ('certified', 'uncertified')) as read_at,
    coalesce(max_by(lists.state, runs.started_at) = 'withdrawn', false) as is_withdrawn
from {{ ref('stg_control__run_lists') }} as lists
inner join {{ ref('stg_control__runs') }} as runs
    on lists.run_id = runs.run_id
group by lists.practice_id, lists.endpoint
