-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

with contacts as (
    select * from {{ ref('int_booking_request_timeline') }}
    where kind = 'contact'
),

practices as (
    select * from {{ ref('practices') }}
),

responses as (
    select * from {{ ref('int_first_responses') }}
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
    {{ local_time('contacts.happened_at', 'practices.time_zone') }} as began_at_local,
    responses.contact_id is not null as is_answerable,
    responses.hours_to_response
from contacts
left join practices
    on contacts.practice_id = practices.practice_id
left join responses
    on
        contacts.practice_id = responses.practice_id
        and contacts.channel = responses.channel
        and contacts.contact_id = responses.contact_id
