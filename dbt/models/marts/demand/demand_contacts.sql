-- depends_on: {{ ref('int_demand_episode_facts') }}
{{ config(
    materialized='incremental' if target.type == 'duckdb' else 'table',
    incremental_strategy='append',
    pre_hook='{{ take_out_noted(\'episode_id\', changed_episodes()) }}',
    post_hook='{{ note_put_in(\'episode_id\', changed_episodes()) }}',
) }}

with contacts as (
    select * from {{ ref('int_demand_timeline') }}
    where kind = 'contact'
    {% if is_incremental() %}
    and episode_id in ({{ changed_episodes() }})
    {% endif %}
),

practices as (
    select * from {{ ref('practices') }}
)

select
    contacts.practice_id,
    contacts.channel,
    contacts.contact_id,
    contacts.episode_id,
    contacts.client_id,
    contacts.begun_by,
    contacts.wanted,
    contacts.result,
    contacts.is_booked,
    cast({{ local_time('contacts.happened_at', 'practices.time_zone') }} as date) as day,
    contacts.happened_at as began_at,
    {{ local_time('contacts.happened_at', 'practices.time_zone') }} as began_at_local
from contacts
left join practices
    on contacts.practice_id = practices.practice_id
