with firsts as (
    select
        practice_id,
        min(created_at_local) as first_at_local,
        count(*) filter (where attendance = 'kept') as kept,
        count(*) filter (where attendance = 'open') as open,
        count(*) filter (where attendance = 'no_show') as no_show,
        bool_or(client_type = 'new') as is_new
    from {{ ref('int_appointments_identified') }}
    group by practice_id, coalesce(person, 'appointment:' || appointment_id)
)

select
    practice_id,
    cast(date_trunc('month', cast(first_at_local as date)) as date) as month,
    count(*) as new_clients,
    count(*) filter (where kept > 0) as came,
    count(*) filter (where kept > 1) as came_again,
    count(*) filter (where kept = 0 and open > 0) as expected,
    count(*) filter (where kept = 0 and open = 0 and no_show > 0) as missed,
    count(*) filter (where kept = 0 and open = 0 and no_show = 0) as canceled,
    {{ rate('count(*) filter (where kept > 0)', 'count(*) filter (where kept > 0 or open = 0)') }} as came_rate
from firsts
where is_new
group by practice_id, cast(date_trunc('month', cast(first_at_local as date)) as date)
