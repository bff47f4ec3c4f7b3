with versions as (
    select * from {{ ref('stg_history__phone_calls') }}
),

-- What a report could have said a day after the day's end; a day that is not over has none.
reports as (
    select
        practice_id,
        day,
        ends_at + interval 24 hours as reported_at
    from {{ ref('practice_days') }}
    where is_over
),

shown as (
    select
        versions.*,
        reports.reported_at,
        versions.valid_to is null as is_shown,
        versions.valid_from <= reports.reported_at
        and coalesce(versions.valid_to > reports.reported_at, true) as was_shown
    from versions
    left join reports
        on
            versions.practice_id = reports.practice_id
            and versions.day = reports.day
),

counted as (
    select
        practice_id,
        day,
        -- A day that was read later than that had no report.
        coalesce(min(valid_from) <= min(reported_at), false) as has_report,
        count(*) filter (where was_shown) as calls_then,
        count(*) filter (where is_shown) as calls,
        count(*) filter (where was_shown and booking_intent) as intent_calls_then,
        count(*) filter (where is_shown and booking_intent) as intent_calls,
        count(*) filter (where was_shown and booked) as booked_calls_then,
        count(*) filter (where is_shown and booked) as booked_calls
    from shown
    group by practice_id, day
)

select
    practice_id,
    day,
    case when has_report then calls_then end as calls_then,
    calls,
    case when has_report then intent_calls_then end as intent_calls_then,
    intent_calls,
    case when has_report then booked_calls_then end as booked_calls_then,
    booked_calls,
    case
        when has_report
            then calls_then != calls or intent_calls_then != intent_calls or booked_calls_then != booked_calls
    end as is_restated
from counted
