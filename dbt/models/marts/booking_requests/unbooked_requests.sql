-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

select
    practice_id,
    episode_id,
    client_id,
    last_channel as channel,
    first_at,
    last_contact_at as last_at,
    client_contacts as contacts,
    last_result as reason,
    is_actionable,
    not_actionable_because,
    last_channel as last_contact_kind,
    last_contact_id,
    begun_by,
    wanted
from {{ ref('int_unbooked_requests') }}
