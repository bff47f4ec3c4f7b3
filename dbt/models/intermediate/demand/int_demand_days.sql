with episodes as (
    select * from {{ ref('int_demand_episodes') }}
),

practices as (
    select * from {{ ref('stg_control__practices') }}
),

leaks as (
    select * from {{ ref('int_leaks') }}
    where is_actionable
)

select
    episodes.practice_id,
    episodes.episode_id,
    episodes.first_channel,
    episodes.begun_by,
    episodes.booked_via,
    episodes.attribution,
    episodes.contacts,
    episodes.hours_to_booking,
    coalesce(episodes.is_kept, false) as is_kept,
    episodes.lost_at is not null as is_lost,
    episodes.booked_at is null as is_leaked,
    leaks.episode_id is not null as is_leaking,
    {{ hours_between('episodes.first_at', 'clock.source_clock') }} > 14 * 24
    and (episodes.booked_at is not null or episodes.lost_at is not null) as is_mature,
    cast({{ local_time('episodes.first_at', 'practices.time_zone') }} as date) as day
from episodes
cross join {{ ref('int_source_clock') }} as clock
left join practices
    on episodes.practice_id = practices.practice_id
left join leaks
    on
        episodes.practice_id = leaks.practice_id
        and episodes.episode_id = leaks.episode_id
