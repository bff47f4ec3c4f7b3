{{ config(materialized='table') }}

with contacts as (
    select * from {{ ref('int_booking_request_people') }}
),

-- Appointments of clients that no contact of theirs accounts for: made at the front desk, or in a call
-- without intent.
appointments as (
    select
        appointments.practice_id,
        appointments.person,
        appointments.appointment_id,
        appointments.created_at,
        coalesce(appointments.booked_via, 'other') as booked_via,
        coalesce(appointments.attribution, 'inferred') as attribution
    from {{ ref('int_appointments_identified') }} as appointments
    left join contacts
        on
            appointments.practice_id = contacts.practice_id
            and appointments.booked_via = contacts.channel
            and appointments.evidence_id = contacts.contact_id
            and appointments.person = contacts.person
    where
        appointments.person is not null
        and appointments.created_at is not null
        and contacts.contact_id is null
),

happened as (
    select
        practice_id,
        person,
        began_at as happened_at,
        'contact' as kind,
        0 as place,
        channel,
        contact_id,
        client_id,
        phone,
        begun_by,
        wanted,
        is_booked,
        booked_at,
        appointment_id,
        attribution,
        result
    from contacts
    union all
    select
        practice_id,
        person,
        created_at as happened_at,
        'appointment' as kind,
        1 as place,
        booked_via as channel,
        appointment_id as contact_id,
        cast(null as string) as client_id,
        cast(null as string) as phone,
        cast(null as string) as begun_by,
        cast(null as string) as wanted,
        true as is_booked,
        created_at as booked_at,
        appointment_id,
        attribution,
        cast(null as string) as result
    from appointments
    union all
    select
        practice_id,
        person,
        booked_at as happened_at,
        'booking' as kind,
        1 as place,
        channel,
        contact_id,
        cast(null as string) as client_id,
        cast(null as string) as phone,
        cast(null as string) as begun_by,
        cast(null as string) as wanted,
        true as is_booked,
        booked_at,
        appointment_id,
        attribution,
        cast(null as string) as result
    from contacts
    where is_booked
),

-- The events before, in the order of time; a contact that begins at the moment of a booking comes before it.
ordered as (
    select
        *,
        cast(
            row_number() over (
                partition by practice_id, person
                order by happened_at, place, channel, contact_id
            ) as bigint
        ) as position,
        max(case when kind = 'contact' then happened_at end) over (
            partition by practice_id, person
            order by happened_at, place, channel, contact_id
            rows between unbounded preceding and 1 preceding
        ) as previous_at,
        max(case when kind != 'contact' then happened_at end) over (
            partition by practice_id, person
            order by happened_at, place, channel, contact_id
            rows between unbounded preceding and 1 preceding
        ) as last_booked_at
    from happened
),

-- After a long silence, or a booking since the contact before, the next contact begins another episode and
-- names it.
begun as (
    select
        *,
        case
            when
                kind = 'contact' and (
                    previous_at is null
                    or {{ hours_between('previous_at', 'happened_at') }} > {{ var('episode_days') }} * 24
                    or coalesce(last_booked_at >= previous_at, false)
                )
                then channel || ':' || contact_id
        end as begun_episode_id
    from ordered
    where kind != 'booking'
),

placed as (
    select
        *,
        {{ last_known('begun_episode_id', 'practice_id, person', 'position') }} as episode_id
    from begun
)

select
    practice_id,
    episode_id,
    kind,
    channel,
    contact_id,
    person,
    position,
    client_id,
    phone,
    happened_at,
    begun_by,
    wanted,
    is_booked,
    booked_at,
    appointment_id,
    attribution,
    result
from placed
where episode_id is not null
