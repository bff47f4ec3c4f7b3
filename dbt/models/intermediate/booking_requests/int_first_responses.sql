-- A table: the marts of contacts and of responses read it.
{{ config(materialized='table') }}

with contacts as (
    select
        contacts.practice_id,
        contacts.channel,
        contacts.contact_id,
        contacts.person,
        contacts.happened_at,
        cast({{ local_time('contacts.happened_at', 'practices.time_zone') }} as date) as day
    from {{ ref('int_booking_request_timeline') }} as contacts
    left join {{ ref('stg_control__practices') }} as practices
        on contacts.practice_id = practices.practice_id
    where
        contacts.kind = 'contact'
        and contacts.begun_by = 'client'
        and not contacts.is_booked
        and (contacts.client_id is not null or contacts.phone is not null)
),

-- What the practice did towards a client or number: an outbound call, a first outreach message, a staff task, a text
-- message of a partner.
acts as (
    select
        practice_id,
        person,
        called_at as acted_at
    from {{ ref('int_phone_calls') }}
    where direction = 'outbound'
    union all
    select
        practice_id,
        person,
        contacted_at as acted_at
    from {{ ref('int_requests_identified') }}
    where contacted_at is not null
    union all
    select
        practice_id,
        {{ person('client_id', 'null', 'null') }} as person,
        created_at as acted_at
    from {{ ref('stg_partner__staff_tasks') }}
    where
        client_id is not null
        and created_at is not null
        -- vetl is not the practice: its task waits for a person, who is yet to react.
        and not {{ is_made_by_vetl() }}
    union all
    select
        practice_id,
        {{ person('client_id', 'null', 'null') }} as person,
        sent_at as acted_at
    from {{ ref('stg_partner__messages') }}
    where
        client_id is not null
        and sent_at is not null
),

responses as (
    select
        contacts.practice_id,
        contacts.channel,
        contacts.contact_id,
        min({{ hours_between('contacts.happened_at', 'acts.acted_at') }}) as hours
    from contacts
    inner join acts
        on
            contacts.practice_id = acts.practice_id
            and contacts.person = acts.person
    where {{ hours_between('contacts.happened_at', 'acts.acted_at') }} between 0 and {{ var('episode_days') }} * 24
    group by contacts.practice_id, contacts.channel, contacts.contact_id
)

select
    contacts.practice_id,
    contacts.channel,
    contacts.contact_id,
    contacts.day,
    responses.hours as hours_to_response
from contacts
left join responses
    on
        contacts.practice_id = responses.practice_id
        and contacts.channel = responses.channel
        and contacts.contact_id = responses.contact_id
