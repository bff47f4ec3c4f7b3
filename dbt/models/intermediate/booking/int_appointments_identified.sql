{{ config(materialized='table') }}

with appointments as (
    select
        staged.*,
        {{ on_the_wall('staged', ['created_at', 'updated_at', 'booking_date', 'end_date']) }},
        spellings.e164 as phone
    from {{ ref('stg_partner__appointments') }} as staged
    left join {{ ref('stg_control__practices') }} as practices
        on staged.practice_id = practices.practice_id
    left join {{ ref('stg_control__phone_numbers') }} as spellings
        on
            staged.practice_id = spellings.practice_id
            and staged.client_phone = spellings.spelling
),

-- Remote ids that belong to exactly one patient, as calls show.
patients as (
    select
        practice_id,
        remote_patient_id,
        min(patient_id) as patient_id
    from {{ ref('int_call_people') }}
    where
        remote_patient_id is not null
        and patient_id is not null
    group by practice_id, remote_patient_id
    having count(distinct patient_id) = 1
),

identified as (
    select
        appointments.*,
        clients.client_id,
        patients.patient_id,
        coalesce(clients.client_id, phones.client_id) as person_client_id,
        case
            when {{ is_one_of('appointments.status', var('kept_statuses')) }} then 'kept'
            when {{ is_one_of('appointments.status', var('canceled_statuses')) }} then 'canceled'
            when {{ is_one_of('appointments.status', var('no_show_statuses')) }} then 'no_show'
            else 'open'
        end as attendance
    from appointments
    left join {{ ref('int_remote_clients') }} as clients
        on
            appointments.practice_id = clients.practice_id
            and appointments.remote_client_id = clients.remote_client_id
    left join patients
        on
            appointments.practice_id = patients.practice_id
            and appointments.remote_patient_id = patients.remote_patient_id
    left join {{ ref('int_client_phones') }} as phones
        on
            appointments.practice_id = phones.practice_id
            and appointments.phone = phones.phone
),

sessions as (
    select * from {{ ref('stg_partner__booking_sessions') }}
),

calls as (
    select * from {{ ref('int_phone_calls') }}
    where {{ is_one_of('outcome', var('booking_outcomes')) }}
),

requests as (
    select * from {{ ref('int_requests_identified') }}
    where outcome = 'booked'
),

events as (
    select * from {{ ref('stg_partner__outreach_events') }}
),

candidates as (
    -- A session names its appointment, or its id in the practice management system.
    {% for id in ['appointment_id', 'remote_appointment_id'] -%}
    select
        appointments.practice_id,
        appointments.appointment_id,
        'online' as booked_via,
        'exact' as attribution,
        sessions.session_id as evidence_id,
        abs({{ microseconds_between('sessions.created_at', 'appointments.created_at') }}) as distance
    from identified as appointments
    inner join sessions
        on
            appointments.practice_id = sessions.practice_id
            and appointments.{{ id }} = sessions.{{ id }}
    union all
    {% endfor -%}
    -- The webhook of an outreach request names the appointment that the conversation booked.
    select
        appointments.practice_id,
        appointments.appointment_id,
        'outreach' as booked_via,
        'exact' as attribution,
        events.request_id as evidence_id,
        abs({{ microseconds_between('events.completed_at', 'appointments.created_at') }}) as distance
    from identified as appointments
    inner join events
        on
            appointments.practice_id = events.practice_id
            and appointments.appointment_id = events.appointment_id
    {% for ours, theirs in [('person_client_id', 'client_id'), ('phone', 'phone')] -%}
    -- Made for the caller, by client or by number, from the minute of the call on and within the hour.
    union all
    select
        appointments.practice_id,
        appointments.appointment_id,
        'call' as booked_via,
        'inferred' as attribution,
        calls.call_key as evidence_id,
        abs({{ microseconds_between('calls.called_at', 'appointments.created_at') }}) as distance
    from identified as appointments
    inner join calls
        on
            appointments.practice_id = calls.practice_id
            and appointments.{{ ours }} = calls.{{ theirs }}
    where {{ hours_between('calls.called_at', 'appointments.created_at') }} between 0 and 1
    -- Made for the client contacted, after the first message and at most an hour after the request ended.
    union all
    select
        appointments.practice_id,
        appointments.appointment_id,
        'outreach' as booked_via,
        'inferred' as attribution,
        requests.request_id as evidence_id,
        abs({{ microseconds_between('requests.completed_at', 'appointments.created_at') }}) as distance
    from identified as appointments
    inner join requests
        on
            appointments.practice_id = requests.practice_id
            and appointments.{{ ours }} = requests.{{ theirs }}
    where
        appointments.created_at >= requests.contacted_at
        and {{ hours_between('requests.completed_at', 'appointments.created_at') }} <= 1
    {% endfor %}
),

-- Ids before inference ('exact' sorts first), then the nearest in time.
origins as (
    select
        practice_id,
        appointment_id,
        booked_via,
        attribution,
        evidence_id
    from candidates
    qualify row_number() over (
        partition by practice_id, appointment_id
        order by attribution, distance nulls last, booked_via, evidence_id
    ) = 1
)

select
    identified.*,
    origins.booked_via,
    origins.attribution,
    origins.evidence_id,
    {{ person('identified.person_client_id', 'identified.phone', 'null') }} as person,
    case when identified.attendance != 'open' then identified.attendance = 'kept' end as is_kept
from identified
left join origins
    on
        identified.practice_id = origins.practice_id
        and identified.appointment_id = origins.appointment_id
