{{ config(materialized='table') }}

with reach_0 as (
    select * from {{ ref('int_booking_stage_steps') }}
),

{% for step in range(4) %}
-- Paths of up to {{ 2 ** (step + 1) }} steps.
reach_{{ step + 1 }} as (
    select distinct
        first_half.stage,
        second_half.later_stage
    from reach_{{ step }} as first_half
    inner join reach_{{ step }} as second_half
        on first_half.later_stage = second_half.stage
){{ ',' if not loop.last }}
{% endfor %}

select
    stage,
    later_stage
from reach_4
