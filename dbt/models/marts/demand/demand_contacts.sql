-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

with contacts as (
    select * from {{ ref('int_demand_timeline') }}
    where kind = 'contact'
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
