with events as (
    select
        events.*,
        {{ on_the_wall('events', ['due_at', 'received_at']) }}
    from {{ ref('stg_partner__service_reminder_events') }} as events
    left join {{ ref('stg_control__practices') }} as practices
        on events.practice_id = practices.practice_id
),

-- The latest content counts.
latest as (
    select
        *,
        count(*) over (partition by practice_id, reminder_group_id) as versions,
        min(received_at) over (partition by practice_id, reminder_group_id) as first_received_at,
        min(told_at) over (partition by practice_id, reminder_group_id) as first_told_at
    from events
    qualify row_number() over (
        partition by practice_id, reminder_group_id
        order by received_at desc nulls last, content_hash asc
    ) = 1
),

appointments as (
    select * from {{ ref('int_appointments_identified') }}
),

-- The patient is identified by either of its ids.
afterwards as (
    select
        latest.practice_id,
        latest.reminder_group_id,
        appointments.appointment_id,
        appointments.created_at
    from latest
    inner join appointments
        on
            latest.practice_id = appointments.practice_id
            and latest.patient_id = appointments.patient_id
            and latest.first_told_at <= appointments.created_at
    union all
    select
        latest.practice_id,
        latest.reminder_group_id,
        appointments.appointment_id,
        appointments.created_at
    from latest
    inner join appointments
        on
            latest.practice_id = appointments.practice_id
            and latest.remote_patient_id = appointments.remote_patient_id
            and latest.first_told_at <= appointments.created_at
),

first_afterwards as (
    select * from afterwards
    qualify row_number() over (
        partition by practice_id, reminder_group_id
        order by created_at asc, appointment_id asc
    ) = 1
)

select
    -- ids
    latest.practice_id,
    latest.reminder_group_id,
    latest.client_id,
    latest.remote_client_id,
    latest.patient_id,
    latest.remote_patient_id,
    first_afterwards.appointment_id,

    -- text
    latest.notification_rule,
    latest.status,

    -- numerics
    latest.reminder_count,
    latest.versions,
    {{ hours_between('latest.first_told_at', 'first_afterwards.created_at') }} as hours_to_appointment,

    -- booleans
    first_afterwards.appointment_id is not null as is_followed,

    -- times
    cast(latest.received_at_local as date) as day,
    latest.due_at,
    latest.due_at_local,
    latest.first_told_at,
    latest.first_received_at,
    latest.received_at,
    latest.received_at_local
from latest
left join first_afterwards
    on
        latest.practice_id = first_afterwards.practice_id
        and latest.reminder_group_id = first_afterwards.reminder_group_id
