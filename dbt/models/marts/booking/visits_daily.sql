with appointments as (
    select
        practice_id,
        cast(booking_date_local as date) as day,
        booked_via,
        client_type,
        attendance,
        {{ days_between('day', 'cast(booking_date_local as date)') }} as lead_days
    from {{ ref('appointments') }}
),

grouped as (
    select
        *,
        case
            when lead_days <= 0 then 'same day'
            when lead_days <= 7 then 'within a week'
            when lead_days <= 30 then 'within a month'
            when lead_days is not null then 'later'
        end as lead_time
    from appointments
),

counted as (
    select
        practice_id,
        day,
        booked_via,
        client_type,
        lead_time,
        count(*) as appointments,
        count(*) filter (where attendance = 'kept') as kept,
        count(*) filter (where attendance = 'canceled') as canceled,
        count(*) filter (where attendance = 'no_show') as no_show,
        count(*) filter (where attendance = 'open') as open,
        {{ median('lead_days') }} as median_lead_days
    from grouped
    group by practice_id, day, booked_via, client_type, lead_time
)

select
    counted.practice_id,
    counted.day,
    counted.booked_via,
    counted.client_type,
    counted.lead_time,
    counted.appointments,
    counted.kept,
    counted.canceled,
    counted.no_show,
    counted.open,
    {{ rate('counted.no_show', 'counted.kept + counted.no_show') }} as no_show_rate,
    {{ rate('counted.canceled', 'counted.appointments - counted.open') }} as cancellation_rate,
    counted.median_lead_days,
    coalesce(counted.day < practices.today, false) as is_past
from counted
left join {{ ref('practices') }} as practices
    on counted.practice_id = practices.practice_id
