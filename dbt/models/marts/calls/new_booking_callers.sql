-- Written once, when it is published.
{{ config(materialized='view' if target.type == 'duckdb' else 'table') }}

select
    practice_id,
    day,
    caller_key,
    wanted_at,
    missed_at,
    is_missed,
    is_booked_within_7_days,
    is_recovered_within_7_days
from {{ ref('int_caller_days') }}
where wanted_at is not null
