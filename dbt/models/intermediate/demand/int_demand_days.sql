with episodes as (
    select * from {{ ref('int_demand_episodes') }}
),

practices as (
    select * from {{ ref('stg_control__practices') }}
),

clock as (
    select * from {{ ref('int_source_clock') }}
)

select
    episodes.practice_id,
    episodes.episode_id,
    episodes.first_channel,
    episodes.booked_via,
    episodes.attribution,
    episodes.contacts,
    {{ hours_between('episodes.first_at', 'episodes.booked_at') }} as hours_to_booking,
    {{ lost_at('episodes', 'clock') }} is not null as is_lost,
    episodes.booked_via is null and not episodes.is_followed_up as is_leaking,
    cast({{ local_time('episodes.first_at', 'practices.time_zone') }} as date) as day
from episodes
left join practices
    on episodes.practice_id = practices.practice_id
cross join clock
