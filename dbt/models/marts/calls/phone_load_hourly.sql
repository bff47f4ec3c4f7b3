with begun as (
    select
        practice_id,
        min(day) as first_day
    from {{ ref('phone_calls') }}
    group by practice_id
),

days as (
    select
        calendar.practice_id,
        calendar.day,
        calendar.weekday
    from {{ ref('practice_days') }} as calendar
    inner join {{ ref('practices') }} as practices
        on calendar.practice_id = practices.practice_id
    inner join begun
        on calendar.practice_id = begun.practice_id
    where
        calendar.day >= practices.today - 91
        and calendar.day < practices.today
        and calendar.day >= begun.first_day
),

calls as (
    select
        calls.practice_id,
        calls.day,
        days.weekday,
        cast(extract(hour from calls.called_at_local) as int) as hour,
        calls.called_at_local as begun_at,
        cast(greatest(ceil(coalesce(calls.duration_seconds, 0) / 6e1), 1) as int) as minutes,
        case when calls.is_answered then calls.duration_seconds end as spoken_seconds
    from {{ ref('phone_calls') }} as calls
    inner join days
        on
            calls.practice_id = days.practice_id
            and calls.day = days.day
),

-- Each call adds one at its beginning and takes it away at its end; an end comes before a beginning.
changes as (
    select
        practice_id,
        day,
        hour,
        begun_at as changed_at,
        1 as change
    from calls
    union all
    select
        practice_id,
        day,
        hour,
        begun_at + minutes * interval 1 minute as changed_at,
        -1 as change
    from calls
),

in_progress as (
    select
        *,
        sum(change) over (
            partition by practice_id
            order by changed_at, change
            rows between unbounded preceding and current row
        ) as at_once
    from changes
),

peaks as (
    select
        practice_id,
        day,
        hour,
        max(at_once) as at_once
    from in_progress
    where change = 1
    group by practice_id, day, hour
),

cells as (
    select
        practice_id,
        weekday,
        hour,
        count(*) as calls,
        coalesce(sum(spoken_seconds), 0) / 6e1 as staff_minutes
    from calls
    group by practice_id, weekday, hour
),

-- A day without a call in the hour has none at once.
of_days as (
    select
        cells.practice_id,
        cells.weekday,
        cells.hour,
        count(*) as days,
        max(coalesce(peaks.at_once, 0)) as most_at_once,
        {{ median('cast(coalesce(peaks.at_once, 0) as double)') }} as usual_at_once
    from cells
    inner join days
        on
            cells.practice_id = days.practice_id
            and cells.weekday = days.weekday
    left join peaks
        on
            cells.practice_id = peaks.practice_id
            and days.day = peaks.day
            and cells.hour = peaks.hour
    group by cells.practice_id, cells.weekday, cells.hour
)

select
    cells.practice_id,
    cells.weekday,
    cells.hour,
    of_days.days,
    cells.calls,
    cells.staff_minutes,
    cells.staff_minutes / 6e1 / of_days.days as staff_hours_needed,
    of_days.usual_at_once,
    cast(of_days.most_at_once as bigint) as most_at_once
from cells
inner join of_days
    on
        cells.practice_id = of_days.practice_id
        and cells.weekday = of_days.weekday
        and cells.hour = of_days.hour
