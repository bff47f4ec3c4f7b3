with visits as (
    select
        appointments.practice_id,
        appointments.person_client_id as client_id,
        count(*) filter (where appointments.attendance = 'kept') as kept_visits,
        min(cast(appointments.booking_date_local as date)) filter (where appointments.attendance = 'kept')
            as first_visit_on,
        max(cast(appointments.booking_date_local as date)) filter (where appointments.attendance = 'kept')
            as last_visit_on,
        min(cast(appointments.booking_date_local as date)) filter (
            where appointments.attendance = 'open' and appointments.booking_date > {{ own_clock() }}
        ) as next_visit_on
    from {{ ref('int_appointments_identified') }} as appointments
    {{ with_own_clock('appointments') }}
    group by appointments.practice_id, appointments.person_client_id
)

select
    clients.*,
    visits.first_visit_on,
    visits.last_visit_on,
    visits.next_visit_on,
    coalesce(visits.kept_visits, 0) as kept_visits,
    coalesce(
        visits.next_visit_on is null
        and {{ days_between('visits.last_visit_on', 'clocks.today') }} > {{ var('lapsed_after_days') }},
        false
    ) as is_lapsed
from {{ ref('stg_partner__clients') }} as clients
left join visits
    on
        clients.practice_id = visits.practice_id
        and clients.client_id = visits.client_id
left join {{ ref('int_practice_clocks') }} as clocks
    on clients.practice_id = clocks.practice_id
