{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'channel', 'contact_id'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, channel, contact_id from {{ changed(ref('int_demand_contacts')) }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with contacts as (
    select * from {{ in_scope(ref('int_demand_contacts'), ['practice_id', 'channel', 'contact_id']) }}
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
    contacts.result,
    contacts.is_booked,
    cast({{ local_time('contacts.began_at', 'practices.time_zone') }} as date) as day,
    contacts.began_at,
    {{ local_time('contacts.began_at', 'practices.time_zone') }} as began_at_local
from contacts
left join practices
    on contacts.practice_id = practices.practice_id
