{{ config(materialized='table') }}

-- The first contact decides who began. The newest contact of the client decides the state of the episode: the
-- practice's own acts are no request. They only count if the client made no contact.
with contacts as (
    select
        *,
        -- After all acts of the practice: one aggregate a column, where two would take a quarter more of the time.
        position + case when begun_by = 'client' then 1000000000000 else 0 end as place
    from {{ ref('int_booking_request_timeline') }}
    where kind = 'contact'
),

episodes as (
    select
        practice_id,
        episode_id,
        min(person) as person,
        min(client_id) as client_id,
        min(phone) as phone,
        count(*) as contacts,
        count(*) filter (where begun_by = 'client') as client_contacts,
        min_by(channel, position) as first_channel,
        min_by(begun_by, position) as begun_by,
        min(happened_at) as first_at,
        max(happened_at) as last_at,
        max_by(channel, place) as last_channel,
        max_by(contact_id, place) as last_contact_id,
        max_by(happened_at, place) as last_contact_at,
        nullif(max_by(coalesce(wanted, ''), place), '') as wanted,
        max_by(result, place) as last_result,
        bool_or(begun_by = 'client') as has_client_contact
    from contacts
    group by practice_id, episode_id
),

-- A contact that booked, or an appointment of the same client or number within the booking window after the
-- last contact.
first_bookings as (
    select
        timeline.practice_id,
        timeline.episode_id,
        timeline.channel as booked_via,
        timeline.booked_at,
        timeline.appointment_id,
        timeline.attribution
    from {{ ref('int_booking_request_timeline') }} as timeline
    inner join episodes
        on
            timeline.practice_id = episodes.practice_id
            and timeline.episode_id = episodes.episode_id
    where
        timeline.is_booked
        and (
            timeline.kind = 'contact'
            or {{ hours_between('episodes.last_at', 'timeline.booked_at') }} <= {{ var('booking_window_days') }} * 24
        )
    qualify row_number() over (
        partition by timeline.practice_id, timeline.episode_id
        order by timeline.booked_at, timeline.attribution, timeline.channel, timeline.appointment_id nulls last
    ) = 1
),

-- A task of a fitting type that was completed soon enough after the client's last contact.
follow_ups as (
    select
        episodes.practice_id,
        episodes.episode_id,
        min(tasks.finalized_at) as followed_up_at
    from episodes
    inner join {{ ref('stg_partner__staff_tasks') }} as tasks
        on
            episodes.practice_id = tasks.practice_id
            and episodes.client_id = tasks.client_id
    where
        tasks.status = 'completed'
        and tasks.finalized_at >= episodes.last_contact_at
        and {{ hours_between('episodes.last_contact_at', 'tasks.finalized_at') }}
        <= {{ var('follow_up_within_days') }} * 24
        and {{ is_fitting_task('tasks.task_type', 'episodes.wanted') }}
    group by episodes.practice_id, episodes.episode_id
),

appointments as (
    select * from {{ ref('int_appointments_identified') }}
),

facts as (
    select
        episodes.practice_id,
        episodes.episode_id,
        episodes.person,
        episodes.client_id,
        episodes.phone,
        episodes.contacts,
        episodes.client_contacts,
        episodes.first_channel,
        episodes.begun_by,
        episodes.has_client_contact,
        episodes.first_at,
        episodes.last_channel,
        episodes.last_contact_id,
        episodes.last_contact_at,
        episodes.last_at,
        episodes.wanted,
        episodes.last_result,
        first_bookings.booked_via,
        first_bookings.booked_at,
        first_bookings.appointment_id,
        first_bookings.attribution,
        appointments.status as appointment_status,
        appointments.is_kept,
        {{ hours_between('episodes.first_at', 'first_bookings.booked_at') }} as hours_to_booking,
        follow_ups.followed_up_at,
        cast({{ local_time('episodes.first_at', 'practices.time_zone') }} as date) as day
    from episodes
    left join {{ ref('stg_control__practices') }} as practices
        on episodes.practice_id = practices.practice_id
    left join first_bookings
        on
            episodes.practice_id = first_bookings.practice_id
            and episodes.episode_id = first_bookings.episode_id
    left join follow_ups
        on
            episodes.practice_id = follow_ups.practice_id
            and episodes.episode_id = follow_ups.episode_id
    left join appointments
        on
            first_bookings.practice_id = appointments.practice_id
            and first_bookings.appointment_id = appointments.appointment_id
),

aged as (
    select
        facts.*,
        {{ hours_between('facts.first_at', own_clock()) }} as age_hours,
        case
            when
                facts.booked_at is null
                and {{ hours_between('facts.last_at', own_clock()) }} > {{ var('lost_after_days') }} * 24
                then facts.last_at + interval {{ var('lost_after_days') * 24 }} hours
        end as lost_at
    from facts
    {{ with_own_clock('facts') }}
)

select
    practice_id,
    episode_id,
    person,
    client_id,
    phone,
    contacts,
    client_contacts,
    first_channel,
    begun_by,
    has_client_contact,
    first_at,
    day,
    last_channel,
    last_contact_id,
    last_contact_at,
    last_at,
    wanted,
    last_result,
    booked_via,
    booked_at,
    appointment_id,
    attribution,
    appointment_status,
    is_kept,
    hours_to_booking,
    followed_up_at,
    lost_at,
    client_id is null and phone is null as is_anonymous,
    age_hours > 14 * 24
    and (booked_at is not null or lost_at is not null) as is_mature
from aged
