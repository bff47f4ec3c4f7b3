{{ config(materialized='table') }}

with appointments as (
    select * from {{ ref('int_appointments_identified') }}
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
    from appointments
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
    from appointments
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
    from appointments
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
    from appointments
    inner join requests
        on
            appointments.practice_id = requests.practice_id
            and appointments.{{ ours }} = requests.{{ theirs }}
    where
        appointments.created_at >= requests.contacted_at
        and {{ hours_between('requests.completed_at', 'appointments.created_at') }} <= 1
    {% endfor %}
)

select
    practice_id,
    appointment_id,
    booked_via,
    attribution,
    evidence_id
from candidates
-- Ids before inference ('exact' sorts first), then the nearest in time.
qualify row_number() over (
    partition by practice_id, appointment_id
    order by attribution, distance nulls last, booked_via, evidence_id
) = 1
