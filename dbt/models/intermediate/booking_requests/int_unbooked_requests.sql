{{ config(materialized='table') }}

with episodes as (
    select * from {{ ref('int_booking_requests') }}
    where booked_at is null
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
        {{ hours_between('episodes.last_contact_at', own_clock()) }} as age_hours
    from episodes
    {{ with_own_clock('episodes') }}
    left join refusals
        on
            episodes.practice_id = refusals.practice_id
            and episodes.person = refusals.person
    left join {{ ref('int_unbooked_requests_answered') }} as answered
        on
            episodes.practice_id = answered.practice_id
            and episodes.episode_id = answered.episode_id
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
