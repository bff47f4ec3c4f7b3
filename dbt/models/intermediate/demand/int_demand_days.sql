with episodes as (
    select * from {{ ref('demand_ledger') }}
),

leaks as (
    select * from {{ ref('leak_list') }}
),

practices as (
    select * from {{ ref('stg_control__practices') }}
)

select
    episodes.practice_id,
    episodes.episode_id,
    episodes.first_channel,
    episodes.booked_via,
    episodes.attribution,
    episodes.contacts,
    episodes.hours_to_booking,
    episodes.lost_at is not null as is_lost,
    leaks.episode_id is not null as is_leaking,
    cast({{ local_time('episodes.first_at', 'practices.time_zone') }} as date) as day
from episodes
left join leaks
    on
        episodes.practice_id = leaks.practice_id
        and episodes.episode_id = leaks.episode_id
left join practices
    on episodes.practice_id = practices.practice_id
