-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

with leaks as (
    select
        practice_id,
        episode_id
    from {{ ref('int_leaks') }}
    where is_actionable
)

select
    episodes.practice_id,
    episodes.episode_id,
    episodes.client_id,
    episodes.first_channel,
    episodes.first_at,
    episodes.contacts,
    episodes.booked_via,
    episodes.booked_at,
    episodes.appointment_id,
    episodes.attribution,
    episodes.hours_to_booking,
    episodes.lost_at,
    episodes.begun_by,
    episodes.appointment_status,
    episodes.is_kept,
    episodes.day,
    leaks.episode_id is not null as is_leaking,
    episodes.is_anonymous
from {{ ref('int_demand_episodes') }} as episodes
left join leaks
    on
        episodes.practice_id = leaks.practice_id
        and episodes.episode_id = leaks.episode_id
