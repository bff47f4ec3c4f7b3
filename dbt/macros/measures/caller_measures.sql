{#- The counts of callers, each one row of a day or a week. -#}
{% macro caller_measures() -%}
    count(*) as unique_callers,
    count(*) filter (where wants_booking) as new_booking_callers,
    count(*) filter (where is_booked_within_7_days) as booked_within_7_days,
    count(*) filter (where is_missed) as missed_callers,
    count(*) filter (where is_recovered_within_7_days) as recovered_within_7_days
{%- endmacro %}
