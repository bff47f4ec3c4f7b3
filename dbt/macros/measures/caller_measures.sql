{#- What is counted of callers, each once in a day or a week. -#}
{% macro caller_measures() -%}
    count(distinct party) as unique_callers,
    count(distinct party) filter (where has_wished) as new_booking_callers,
    count(distinct party) filter (where is_booked_within_7_days) as booked_within_7_days,
    count(distinct party) filter (where is_missed) as missed_callers,
    count(distinct party) filter (where is_recovered_within_7_days) as recovered_within_7_days
{%- endmacro %}
