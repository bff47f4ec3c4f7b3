-- An act is about a contact: the first of its booking request when the plan was made. Two requests may be one by now.
with acts as (
    select * from {{ ref('stg_control__acts') }}
    where episode_id is not null
),

contacts as (
    select
        practice_id,
        channel || ':' || contact_id as contact,
        episode_id,
        person
    from {{ ref('int_booking_request_timeline') }}
    where kind = 'contact'
),

bookings as (
    select
        acts.practice_id,
        acts.code,
        min(bookings.booked_at) as booked_at
    from acts
    inner join contacts
        on
            acts.practice_id = contacts.practice_id
            and acts.episode_id = contacts.contact
    inner join {{ person_bookings() }} as bookings
        on
            contacts.practice_id = bookings.practice_id
            and contacts.person = bookings.person
            and acts.planned_at <= bookings.booked_at
    group by acts.practice_id, acts.code
),

placed as (
    select
        acts.*,
        contacts.episode_id as present_episode_id,
        tasks.status as task_status,
        tasks.finalized_at as task_finalized_at,
        bookings.booked_at,
        {{ own_clock() }} as source_clock,
        acts.state = 'holdout' as holdout,
        acts.state not in ('planned', 'holdout', 'refused') as is_sent,
        cast({{ local_time('acts.planned_at', 'practices.time_zone') }} as date) as day
    from acts
    {{ with_own_clock('acts') }}
    left join contacts
        on
            acts.practice_id = contacts.practice_id
            and acts.episode_id = contacts.contact
    left join bookings
        on
            acts.practice_id = bookings.practice_id
            and acts.code = bookings.code
    left join {{ ref('stg_partner__staff_tasks') }} as tasks
        on
            acts.practice_id = tasks.practice_id
            and acts.task_id = tasks.task_id
    left join {{ ref('stg_control__practices') }} as practices
        on acts.practice_id = practices.practice_id
)

select
    practice_id,
    episode_id,
    kind,
    code,
    present_episode_id,
    state,
    holdout,
    day,
    planned_at,
    sent_at,
    approved_by,
    certified_through,
    task_id,
    found_by,
    task_status,
    task_finalized_at,
    booked_at,
    coalesce({{ hours_between('planned_at', 'booked_at') }} <= 14 * 24, false) as booked_within_14_days,
    {{ hours_between('planned_at', 'source_clock') }} > 14 * 24 as is_mature,
    is_sent,
    is_sent and kind != 'text' and state != 'canceled' and coalesce(task_status, 'pending') = 'pending' as is_open
from placed
