select
    practice_id,
    name,
    group_name,
    time_zone,
    history_start,
    as_of,
    as_of_local,
    today
from {{ ref('int_practice_clocks') }}
