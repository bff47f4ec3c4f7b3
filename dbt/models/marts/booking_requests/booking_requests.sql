-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

with unbooked as (
    select
        practice_id,
        episode_id
    from {{ ref('int_unbooked_requests') }}
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
    unbooked.episode_id is not null as is_on_call_back_list,
    episodes.is_anonymous
from {{ ref('int_booking_requests') }} as episodes
left join unbooked
    on
        episodes.practice_id = unbooked.practice_id
        and episodes.episode_id = unbooked.episode_id
