-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

select
    practice_id,
    episode_id,
    client_id,
    first_channel,
    first_at,
    contacts,
    booked_via,
    booked_at,
    appointment_id,
    attribution,
    hours_to_booking,
    lost_at,
    begun_by,
    appointment_status,
    is_kept
from {{ ref('int_demand_episodes') }}
