{{ config(
    materialized='incremental' if target.type == 'duckdb' else 'table',
    incremental_strategy='append',
    pre_hook='{{ take_out_noted(\'episode_id\', changed_episodes()) }}',
    post_hook='{{ note_put_in(\'episode_id\', changed_episodes()) }}',
) }}

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
{% if is_incremental() %}
where episode_id in ({{ changed_episodes() }})
{% endif %}
