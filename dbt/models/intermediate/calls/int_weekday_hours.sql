-- A table: it is read several times, and computes every hour of the history.
{{ config(materialized='table') }}

with first_calls as (
    select
        practice_id,
        min(called_at) as first_at
    from {{ ref('stg_partner__phone_calls') }}
    group by practice_id
),

practices as (
    select * from {{ ref('stg_control__practices') }}
),

clock as (
    select * from {{ ref('int_source_clock') }}
),

-- The hour begins by the wall clock: in some zones in the middle of an hour of UTC.
begun as (
    select
        practices.practice_id,
        practices.time_zone,
        first_calls.first_at
        - extract(minute from {{ local_time('first_calls.first_at', 'practices.time_zone') }}) * interval 1 minute
            as first_hour
    from practices
    inner join first_calls
        on practices.practice_id = first_calls.practice_id
),

-- Real hours, one after the other: an hour that the wall clock skips has none, an hour that it repeats has
-- two.
hours as (
    select
        begun.practice_id,
        begun.time_zone,
        {{ each_hour('begun.first_hour', 'clock.source_clock') }} as started_at
    from begun
    cross join clock
),

on_the_wall as (
    select
        practice_id,
        {{ local_time('started_at', 'time_zone') }} as started_at_local
    from hours
),

named as (
    select
        practice_id,
        cast({{ iso_weekday('started_at_local') }} as int) as weekday,
        cast(extract(hour from started_at_local) as int) as hour
    from on_the_wall
)

select
    practice_id,
    weekday,
    hour,
    count(*) as hours
from named
group by practice_id, weekday, hour
