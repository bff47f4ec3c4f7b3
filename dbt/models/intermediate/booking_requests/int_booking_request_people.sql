-- Read once by a build: to write it as a table would cost more.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

with calls as (
    select
        practice_id,
        'call' as channel,
        call_key as contact_id,
        called_at as began_at,
        client_id,
        phone,
        case when is_inbound then 'client' else 'practice' end as begun_by,
        call_classification as wanted,
        coalesce(booked, false) as is_booked,
        called_at as booked_at,
        cast(null as string) as appointment_id,
        cast(null as string) as attribution,
        coalesce(outcome, state, 'no outcome') as result
    from {{ ref('int_phone_calls') }}
    where is_new_booking_intent
),

sessions as (
    select
        practice_id,
        'online' as channel,
        session_id as contact_id,
        created_at as began_at,
        cast(null as string) as client_id,
        cast(null as string) as phone,
        'client' as begun_by,
        'scheduling' as wanted,
        coalesce(appointment_id, remote_appointment_id) is not null
        or coalesce(status = 'completed', false) as is_booked,
        coalesce(last_activity_at, updated_at, created_at) as booked_at,
        appointment_id,
        case when coalesce(appointment_id, remote_appointment_id) is not null then 'exact' end as attribution,
        case when status = 'active' then 'still active at ' else 'left at ' end
        || coalesce(stage, 'an unknown stage') as result
    from {{ ref('stg_partner__booking_sessions') }}
),

requests as (
    select
        requests.practice_id,
        'outreach' as channel,
        requests.request_id as contact_id,
        requests.created_at as began_at,
        requests.client_id,
        requests.phone,
        'practice' as begun_by,
        {{ wanted('requests.purpose') }} as wanted,
        coalesce(requests.outcome = 'booked', false) as is_booked,
        coalesce(requests.completed_at, requests.contacted_at, requests.created_at) as booked_at,
        events.appointment_id,
        case when events.appointment_id is not null then 'exact' end as attribution,
        coalesce(requests.outcome, requests.suppression_reason, requests.status, 'no status') as result
    from {{ ref('int_requests_identified') }} as requests
    left join {{ ref('stg_partner__outreach_events') }} as events
        on
            requests.practice_id = events.practice_id
            and requests.request_id = events.request_id
    where
        requests.purpose = 'scheduling'
        or requests.outcome = 'booked'
),

tasks as (
    select
        practice_id,
        'task' as channel,
        task_id as contact_id,
        created_at as began_at,
        client_id,
        cast(null as string) as phone,
        'practice' as begun_by,
        {{ wanted('task_type') }} as wanted,
        false as is_booked,
        created_at as booked_at,
        cast(null as string) as appointment_id,
        cast(null as string) as attribution,
        'task ' || coalesce(status, 'of no status') as result
    from {{ ref('stg_partner__staff_tasks') }}
    where
        {{ is_one_of('task_type', var('booking_task_types')) }}
        and client_id is not null
        -- A task that `vetl act` made follows from a booking request and is none itself.
        and not {{ is_made_by_vetl() }}
),

contacts as (
    select * from calls
    union all
    select * from sessions
    union all
    select * from requests
    union all
    select * from tasks
),

-- The booking of a contact. A session has no client, but its appointment has.
booked as (
    select
        practice_id,
        booked_via,
        evidence_id,
        appointment_id,
        attribution,
        created_at,
        person_client_id,
        phone
    from {{ ref('int_appointments_identified') }}
    where booked_via is not null
    qualify row_number() over (
        partition by practice_id, booked_via, evidence_id
        order by created_at nulls last, appointment_id
    ) = 1
),

signs as (
    select
        contacts.practice_id,
        contacts.channel,
        contacts.contact_id,
        contacts.channel || ':' || contacts.contact_id as contact,
        contacts.began_at,
        contacts.begun_by,
        contacts.wanted,
        coalesce(contacts.client_id, booked.person_client_id) as client_id,
        coalesce(contacts.phone, booked.phone) as phone,
        contacts.is_booked or booked.appointment_id is not null as is_booked,
        case when contacts.is_booked then contacts.booked_at else booked.created_at end as booked_at,
        coalesce(contacts.appointment_id, booked.appointment_id) as appointment_id,
        coalesce(contacts.attribution, booked.attribution, 'inferred') as attribution,
        contacts.result
    from contacts
    left join booked
        on
            contacts.practice_id = booked.practice_id
            and contacts.channel = booked.booked_via
            and contacts.contact_id = booked.evidence_id
    where contacts.began_at is not null
)

select
    practice_id,
    channel,
    contact_id,
    {{ person('client_id', 'phone', 'contact') }} as person,
    client_id,
    phone,
    began_at,
    begun_by,
    wanted,
    is_booked,
    -- A booking is never before the begin of its contact, whatever the source's times say.
    case when is_booked then greatest(coalesce(booked_at, began_at), began_at) end as booked_at,
    case when is_booked then appointment_id end as appointment_id,
    case when is_booked then attribution end as attribution,
    result
from signs
