{{ config(materialized='table') }}

-- Unbooked requests that nothing else keeps off the call-back list: of a known client or number, and not too old.
with unbooked as (
    select
        episodes.practice_id,
        episodes.episode_id,
        episodes.person,
        episodes.client_id,
        episodes.first_at,
        episodes.last_contact_at,
        {{ own_clock() }} as source_clock
    from {{ ref('int_booking_requests') }} as episodes
    {{ with_own_clock('episodes') }}
    where
        episodes.booked_at is null
        and episodes.has_client_contact
        and (episodes.client_id is not null or episodes.phone is not null)
        and {{ hours_between('episodes.last_contact_at', own_clock()) }}
        <= {{ var('call_back_within_days') }} * 24
),

-- The booking window of an episode is shorter than the time in which somebody may call back.
answers as (
    select
        unbooked.practice_id,
        unbooked.episode_id,
        1 as place,
        'booked_since' as answer,
        bookings.booked_at as answered_at
    from unbooked
    inner join {{ person_bookings() }} as bookings
        on
            unbooked.practice_id = bookings.practice_id
            and unbooked.person = bookings.person
    where bookings.booked_at >= unbooked.last_contact_at
    union all
    select
        unbooked.practice_id,
        unbooked.episode_id,
        2 as place,
        'appointment_ahead' as answer,
        appointments.booking_date as answered_at
    from unbooked
    inner join {{ ref('int_appointments_identified') }} as appointments
        on
            unbooked.practice_id = appointments.practice_id
            and unbooked.person = appointments.person
    where
        appointments.attendance = 'open'
        and appointments.booking_date > unbooked.source_clock
    union all
    select
        unbooked.practice_id,
        unbooked.episode_id,
        3 as place,
        'open_task' as answer,
        tasks.created_at as answered_at
    from unbooked
    inner join {{ ref('stg_partner__staff_tasks') }} as tasks
        on
            unbooked.practice_id = tasks.practice_id
            and unbooked.client_id = tasks.client_id
    where tasks.status = 'pending'
    union all
    select
        unbooked.practice_id,
        unbooked.episode_id,
        3 as place,
        'open_task' as answer,
        calls.called_at as answered_at
    from unbooked
    inner join {{ ref('int_phone_calls') }} as calls
        on
            unbooked.practice_id = calls.practice_id
            and unbooked.person = calls.person
    where
        {{ is_one_of('calls.outcome', var('task_outcomes')) }}
        and calls.called_at >= unbooked.first_at
    union all
    select
        unbooked.practice_id,
        unbooked.episode_id,
        4 as place,
        'asked_again' as answer,
        later.first_at as answered_at
    from unbooked
    inner join unbooked as later
        on
            unbooked.practice_id = later.practice_id
            and unbooked.person = later.person
    where later.first_at > unbooked.last_contact_at
    union all
    -- A task of `vetl act` stands for its booking request, also if it names no client.
    select
        unbooked.practice_id,
        unbooked.episode_id,
        case when acts.is_open then 3 else 5 end as place,
        case when acts.is_open then 'open_task' else 'followed_up' end as answer,
        acts.sent_at as answered_at
    from unbooked
    inner join {{ ref('int_acts') }} as acts
        on
            unbooked.practice_id = acts.practice_id
            and unbooked.episode_id = acts.present_episode_id
    where acts.is_open or (acts.is_sent and coalesce(acts.sent_at, acts.planned_at) >= unbooked.last_contact_at)
),

answered as (
    select
        practice_id,
        episode_id,
        min_by(answer, place) as answer,
        max(case when answer = 'appointment_ahead' then answered_at end) as visit_at
    from answers
    group by practice_id, episode_id
),

-- Clients and numbers that must not be called: they said so, or outreach to them was stopped for it.
said as (
    select
        practice_id,
        person,
        outcome as refusal
    from {{ ref('int_phone_calls') }}
    where {{ is_one_of('outcome', var('never_call')) }}
    union all
    select
        practice_id,
        person,
        case when {{ is_one_of('outcome', var('never_call')) }} then outcome else suppression_reason end as refusal
    from {{ ref('int_requests_identified') }}
    where
        {{ is_one_of('outcome', var('never_call')) }}
        or {{ is_one_of('suppression_reason', var('never_call')) }}
),

refusals as (
    select
        practice_id,
        person,
        min(refusal) as refusal
    from said
    group by practice_id, person
),

aged as (
    select
        episodes.*,
        refusals.refusal,
        answered.answer,
        answered.visit_at,
        {{ hours_between('episodes.last_contact_at', own_clock()) }} as age_hours
    from {{ ref('int_booking_requests') }} as episodes
    {{ with_own_clock('episodes') }}
    left join refusals
        on
            episodes.practice_id = refusals.practice_id
            and episodes.person = refusals.person
    left join answered
        on
            episodes.practice_id = answered.practice_id
            and episodes.episode_id = answered.episode_id
    where episodes.booked_at is null
),

-- The first condition that holds is the reason not to call.
judged as (
    select
        *,
        case
            when not has_client_contact then 'begun_by_practice'
            when client_id is null and phone is null then 'anonymous'
            when refusal is not null then refusal
            when {{ is_one_of('last_result', var('do_not_chase')) }} then last_result
            when followed_up_at is not null then 'followed_up'
            when age_hours > {{ var('call_back_within_days') }} * 24 then 'too_old'
            else answer
        end as not_actionable_because
    from aged
)

select
    *,
    not_actionable_because is null as is_actionable,
    -- Somebody who was served, or whose booking request is lost by now, can wait.
    coalesce({{ is_one_of('last_result', var('settled_outcomes')) }}, false)
    or age_hours > {{ var('lost_after_days') }} * 24 as can_wait
from judged
