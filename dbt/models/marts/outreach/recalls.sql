with reminders as (
    select
        reminders.*,
        practices.as_of,
        cast(reminders.due_at_local as date) as due_day
    from {{ ref('service_reminders') }} as reminders
    left join {{ ref('practices') }} as practices
        on reminders.practice_id = practices.practice_id
),

appointments as (
    select * from {{ ref('int_appointments_identified') }}
),

-- The patient is identified by either of its ids; an appointment that both name counts once.
visits as (
    {% for id in ['patient_id', 'remote_patient_id'] -%}
    select
        reminders.practice_id,
        reminders.reminder_group_id,
        reminders.due_at,
        reminders.as_of,
        appointments.created_at,
        appointments.booking_date,
        appointments.attendance
    from reminders
    inner join appointments
        on
            reminders.practice_id = appointments.practice_id
            and reminders.{{ id }} = appointments.{{ id }}
    {{ 'union all' if not loop.last }}
    {% endfor %}
),

booked as (
    select
        practice_id,
        reminder_group_id,
        bool_or(
            {{ hours_between('created_at', 'due_at') }} > 0
            and {{ hours_between('created_at', 'due_at') }} <= 30 * 24
        ) as is_booked_before,
        bool_or(
            {{ hours_between('due_at', 'created_at') }} >= 0
            and {{ hours_between('due_at', 'created_at') }} <= 30 * 24
        ) as is_booked_after,
        min(booking_date) filter (where attendance = 'open' and booking_date > as_of) as next_visit_at
    from visits
    group by practice_id, reminder_group_id
),

judged as (
    select
        reminders.practice_id,
        reminders.reminder_group_id,
        reminders.client_id,
        reminders.patient_id,
        reminders.notification_rule,
        reminders.status,
        reminders.due_at,
        reminders.due_day as day,
        reminders.as_of,
        coalesce(booked.is_booked_before, false) as is_booked_before,
        coalesce(booked.is_booked_after, false) as is_booked_after,
        booked.next_visit_at
    from reminders
    left join booked
        on
            reminders.practice_id = booked.practice_id
            and reminders.reminder_group_id = booked.reminder_group_id
)

select
    practice_id,
    reminder_group_id,
    client_id,
    patient_id,
    notification_rule,
    status,
    due_at,
    day,
    is_booked_before,
    is_booked_after,
    next_visit_at,
    case
        when coalesce(status, '') in ('completed', 'deleted') then status
        when next_visit_at is not null then 'visit ahead'
        when is_booked_before or is_booked_after then 'booked'
        when due_at <= as_of then 'overdue'
        else 'due'
    end as state
from judged
