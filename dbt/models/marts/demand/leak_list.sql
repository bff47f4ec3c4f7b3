-- A view: with each hour all of its rows grow older.
{{ config(materialized='view') }}

with episodes as (
    select * from {{ ref('int_demand_episodes') }}
    where
        booked_via is null
        and not is_followed_up
),

clock as (
    select * from {{ ref('int_source_clock') }}
)

select
    episodes.practice_id,
    episodes.episode_id,
    episodes.client_id,
    episodes.last_channel as channel,
    episodes.last_at,
    {{ hours_between('episodes.last_at', 'clock.source_clock') }} as age_hours,
    episodes.last_result as reason
from episodes
cross join clock
order by episodes.last_at desc
