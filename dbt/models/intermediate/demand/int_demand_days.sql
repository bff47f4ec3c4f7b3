with episodes as (
    select * from {{ ref('int_demand_episodes') }}
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
    episodes.client_id is null and episodes.phone is null as is_anonymous,
    {{ hours_between('episodes.first_at', own_clock()) }} > 14 * 24
    and (episodes.booked_at is not null or episodes.lost_at is not null) as is_mature,
    episodes.day
from episodes
{{ with_own_clock('episodes') }}
left join leaks
    on
        episodes.practice_id = leaks.practice_id
        and episodes.episode_id = leaks.episode_id
