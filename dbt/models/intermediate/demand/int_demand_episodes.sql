{{ config(materialized=var('by_scope'), incremental_strategy='scope', unique_key=['practice_id', 'episode_id']) }}
{%- if is_incremental() %}
{%- set scope %}
    select practice_id, party from {{ changed(ref('int_demand_contacts')) }}
union
    select practice_id, party from {{ changed(ref('int_demand_appointments')) }}
union
    select practice_id, 'client:' || client_id as party from {{ changed(ref('staff_tasks')) }}
{%- endset %}
{{- set_scope(scope) }}
{%- endif %}

with contacts as (
    select * from {{ in_scope(ref('int_demand_contacts'), ['practice_id', 'party']) }}
),

episodes as (
    select
        practice_id,
        episode_id,
        min(party) as party,
        min(client_id) as client_id,
        count(*) as contacts,
        min(began_at) as first_at,
        max(began_at) as last_at
    from contacts
    group by practice_id, episode_id
),

-- The newest contact says how the episode stands.
last_contacts as (
    select
        practice_id,
        episode_id,
        channel,
        result
    from contacts
    qualify row_number() over (
        partition by practice_id, episode_id
        order by began_at desc, channel desc, contact_id desc
    ) = 1
),

-- A contact that booked, or an appointment of the same client or number until 14 days after the last contact.
bookings as (
    select
        practice_id,
        episode_id,
        channel as booked_via,
        booked_at,
        appointment_id,
        attribution
    from contacts
    where is_booked
    union all
    select
        episodes.practice_id,
        episodes.episode_id,
        coalesce(appointments.booked_via, 'other') as booked_via,
        appointments.created_at as booked_at,
        appointments.appointment_id,
        coalesce(appointments.attribution, 'inferred') as attribution
    from episodes
    inner join {{ ref('int_demand_appointments') }} as appointments
        on
            episodes.practice_id = appointments.practice_id
            and episodes.party = appointments.party
            and episodes.first_at <= appointments.created_at
    where {{ hours_between('episodes.last_at', 'appointments.created_at') }} <= 14 * 24
),

first_bookings as (
    select *
    from bookings
    qualify row_number() over (
        partition by practice_id, episode_id
        order by booked_at, attribution, booked_via, appointment_id nulls last
    ) = 1
),

completed_tasks as (
    select
        practice_id,
        client_id,
        max(finalized_at) as completed_at
    from {{ ref('staff_tasks') }}
    where status = 'completed'
    group by practice_id, client_id
)

select
    episodes.practice_id,
    episodes.episode_id,
    episodes.party,
    episodes.client_id,
    episodes.contacts,
    split_part(episodes.episode_id, ':', 1) as first_channel,
    episodes.first_at,
    last_contacts.channel as last_channel,
    episodes.last_at,
    last_contacts.result as last_result,
    first_bookings.booked_via,
    first_bookings.booked_at,
    first_bookings.appointment_id,
    first_bookings.attribution,
    coalesce(completed_tasks.completed_at >= episodes.last_at, false) as is_followed_up
from episodes
inner join last_contacts
    on
        episodes.practice_id = last_contacts.practice_id
        and episodes.episode_id = last_contacts.episode_id
left join first_bookings
    on
        episodes.practice_id = first_bookings.practice_id
        and episodes.episode_id = first_bookings.episode_id
left join completed_tasks
    on
        episodes.practice_id = completed_tasks.practice_id
        and episodes.client_id = completed_tasks.client_id
