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
    last_channel as channel,
    first_at,
    last_at,
    contacts,
    last_result as reason,
    is_actionable,
    not_actionable_because,
    last_channel as last_contact_kind,
    last_contact_id,
    begun_by,
    wanted
from {{ ref('int_leaks') }}
{% if is_incremental() %}
where episode_id in ({{ changed_episodes() }})
{% endif %}
