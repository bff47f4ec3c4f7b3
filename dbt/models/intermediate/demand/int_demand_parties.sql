{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'channel', 'contact_id'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, 'call' as channel, call_key as contact_id from {{ changed(ref('phone_calls')) }}
union
    select practice_id, 'session' as channel, session_id as contact_id from {{ changed(ref('booking_sessions')) }}
union
    select practice_id, 'outreach' as channel, request_id as contact_id from {{ changed(ref('outreach_requests')) }}
union
    select practice_id, 'task' as channel, task_id as contact_id from {{ changed(ref('staff_tasks')) }}
union
    select practice_id, 'outreach' as channel, request_id as contact_id from {{ ref('stg_partner__outreach_events') }}
    where {{ has_changed('outreach_events') }}
union
    select calls.practice_id, 'call' as channel, calls.call_key as contact_id
    from {{ ref('phone_calls') }} as calls
    inner join {{ changed(ref('int_remote_clients')) }} as learnt
        on calls.practice_id = learnt.practice_id and calls.remote_client_id = learnt.remote_client_id
    where calls.booking_intent
union
    select held.practice_id, held.channel, held.contact_id
    from {{ this }} as held
    inner join {{ changed(ref('int_client_phones')) }} as learnt
        on held.practice_id = learnt.practice_id and held.phone = learnt.phone
union
    select practice_id, booked_via as channel, evidence_id as contact_id
    from {{ changed(ref('int_demand_appointments')) }}
    where booked_via is not null
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with calls as (
    select
        calls.practice_id,
        'call' as channel,
        calls.call_key as contact_id,
        calls.called_at as began_at,
        coalesce(calls.client_id, clients.client_id) as client_id,
        {{ phone_digits('calls.phone_number') }} as phone,
        coalesce(calls.booked, false) as is_booked,
        calls.called_at as booked_at,
        cast(null as string) as appointment_id,
        cast(null as string) as attribution,
        coalesce(calls.outcome, calls.state, 'no outcome') as result
    from {{ contacts_in_scope(ref('phone_calls'), 'call', 'call_key') }} as calls
    left join {{ ref('int_remote_clients') }} as clients
        on
            calls.practice_id = clients.practice_id
            and calls.remote_client_id = clients.remote_client_id
    where calls.booking_intent
),

sessions as (
    select
        practice_id,
        'session' as channel,
        session_id as contact_id,
        created_at as began_at,
        cast(null as string) as client_id,
        cast(null as string) as phone,
        coalesce(appointment_id, remote_appointment_id) is not null
        or coalesce(status = 'completed', false) as is_booked,
        coalesce(last_activity_at, updated_at, created_at) as booked_at,
        appointment_id,
        case when coalesce(appointment_id, remote_appointment_id) is not null then 'exact' end as attribution,
        case when status = 'active' then 'still active at ' else 'left at ' end
        || coalesce(stage, 'an unknown stage') as result
    from {{ contacts_in_scope(ref('booking_sessions'), 'session', 'session_id') }}
),

requests as (
    select
        requests.practice_id,
        'outreach' as channel,
        requests.request_id as contact_id,
        requests.created_at as began_at,
        requests.client_id,
        {{ phone_digits('requests.contact_number') }} as phone,
        coalesce(requests.outcome = 'booked', false) as is_booked,
        coalesce(requests.completed_at, requests.contacted_at, requests.created_at) as booked_at,
        events.appointment_id,
        case when events.appointment_id is not null then 'exact' end as attribution,
        coalesce(requests.outcome, requests.suppression_reason, requests.status, 'no status') as result
    from {{ contacts_in_scope(ref('outreach_requests'), 'outreach', 'request_id') }} as requests
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
        false as is_booked,
        created_at as booked_at,
        cast(null as string) as appointment_id,
        cast(null as string) as attribution,
        'task ' || coalesce(status, 'of no status') as result
    from {{ contacts_in_scope(ref('staff_tasks'), 'task', 'task_id') }}
    where
        task_type = 'task'
        and client_id is not null
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

-- What a contact booked. A session knows nobody: its appointment does.
booked as (
    select
        practice_id,
        booked_via,
        evidence_id,
        appointment_id,
        attribution,
        client_id,
        phone
    from {{ ref('int_demand_appointments') }}
    where booked_via is not null
    qualify row_number() over (
        partition by practice_id, booked_via, evidence_id
        order by created_at nulls last, appointment_id
    ) = 1
),

told as (
    select
        contacts.practice_id,
        contacts.channel,
        contacts.contact_id,
        contacts.began_at,
        coalesce(contacts.client_id, booked.client_id) as client_id,
        coalesce(contacts.phone, booked.phone) as phone,
        contacts.is_booked,
        contacts.booked_at,
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
),

known as (
    select
        told.practice_id,
        told.channel,
        told.contact_id,
        told.channel || ':' || told.contact_id as contact,
        told.began_at,
        coalesce(told.client_id, phones.client_id) as client_id,
        told.phone,
        told.is_booked,
        told.booked_at,
        told.appointment_id,
        told.attribution,
        told.result
    from told
    left join {{ ref('int_client_phones') }} as phones
        on
            told.practice_id = phones.practice_id
            and told.phone = phones.phone
)

select
    practice_id,
    channel,
    contact_id,
    {{ party('client_id', 'phone', 'contact') }} as party,
    client_id,
    phone,
    began_at,
    is_booked,
    booked_at,
    appointment_id,
    attribution,
    result
from known
