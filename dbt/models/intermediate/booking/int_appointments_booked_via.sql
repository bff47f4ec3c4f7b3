{{ config(
    materialized=var('by_scope'),
    incremental_strategy='scope',
    unique_key=['practice_id', 'appointment_id'],
) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, appointment_id from {{ changed(ref('int_appointments_identified')) }}
union
    select appointments.practice_id, appointments.appointment_id
    from {{ ref('int_appointments_identified') }} as appointments
    inner join {{ changed(ref('booking_sessions')) }} as evidence
        on appointments.practice_id = evidence.practice_id and appointments.appointment_id = evidence.appointment_id
union
    select appointments.practice_id, appointments.appointment_id
    from {{ ref('int_appointments_identified') }} as appointments
    inner join {{ changed(ref('booking_sessions')) }} as evidence
        on appointments.practice_id = evidence.practice_id and appointments.remote_appointment_id = evidence.remote_appointment_id
union
    select appointments.practice_id, appointments.appointment_id
    from {{ ref('int_appointments_identified') }} as appointments
    inner join {{ changed(ref('phone_calls')) }} as evidence
        on appointments.practice_id = evidence.practice_id and appointments.remote_client_id = evidence.remote_client_id
    where evidence.outcome = 'appointment_booked'
union
    select appointments.practice_id, appointments.appointment_id
    from {{ ref('int_appointments_identified') }} as appointments
    inner join {{ changed(ref('outreach_requests')) }} as evidence
        on appointments.practice_id = evidence.practice_id and appointments.client_id = evidence.client_id
    where evidence.outcome = 'booked'
union
    select practice_id, appointment_id from {{ ref('stg_partner__outreach_events') }}
    where appointment_id is not null and {{ has_changed('outreach_events') }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with appointments as (
    select * from {{ in_scope(ref('int_appointments_identified'), ['practice_id', 'appointment_id']) }}
),

sessions as (
    select * from {{ ref('booking_sessions') }}
),

calls as (
    select * from {{ ref('phone_calls') }}
    where outcome = 'appointment_booked'
),

requests as (
    select * from {{ ref('outreach_requests') }}
    where outcome = 'booked'
),

events as (
    select * from {{ ref('stg_partner__outreach_events') }}
),

-- A session names its appointment.
by_session as (
    select
        appointments.practice_id,
        appointments.appointment_id,
        'session' as booked_via,
        'exact' as attribution,
        sessions.session_id as evidence_id,
        abs({{ microseconds_between('sessions.created_at', 'appointments.created_at') }}) as distance
    from appointments
    inner join sessions
        on
            appointments.practice_id = sessions.practice_id
            and appointments.appointment_id = sessions.appointment_id
),

-- ... or names it by its id in the practice management system.
by_session_remotely as (
    select
        appointments.practice_id,
        appointments.appointment_id,
        'session' as booked_via,
        'exact' as attribution,
        sessions.session_id as evidence_id,
        abs({{ microseconds_between('sessions.created_at', 'appointments.created_at') }}) as distance
    from appointments
    inner join sessions
        on
            appointments.practice_id = sessions.practice_id
            and appointments.remote_appointment_id = sessions.remote_appointment_id
),

-- The webhook of an outreach request names the appointment that the conversation booked.
by_outreach_event as (
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
),

-- Made for the caller, from the minute of the call on and within the hour.
by_call as (
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
            and appointments.remote_client_id = calls.remote_client_id
    where {{ hours_between('calls.called_at', 'appointments.created_at') }} between 0 and 1
),

-- Made for the client contacted, after the first message and at most an hour after the request ended.
by_outreach as (
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
            and appointments.client_id = requests.client_id
    where
        appointments.created_at >= requests.contacted_at
        and {{ hours_between('requests.completed_at', 'appointments.created_at') }} <= 1
),

candidates as (
    select * from by_session
    union all
    select * from by_outreach_event
    union all
    select * from by_session_remotely
    union all
    select * from by_call
    union all
    select * from by_outreach
)

select
    practice_id,
    appointment_id,
    booked_via,
    attribution,
    case when booked_via = 'session' then evidence_id end as session_id,
    case when booked_via = 'call' then evidence_id end as call_key,
    case when booked_via = 'outreach' then evidence_id end as request_id
from candidates
-- Ids before inference ('exact' sorts first), then the nearest in time.
qualify row_number() over (
    partition by practice_id, appointment_id
    order by attribution, distance nulls last, booked_via, evidence_id
) = 1
