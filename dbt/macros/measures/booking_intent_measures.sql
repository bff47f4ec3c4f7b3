{#- What is counted of phone calls, by day or by hour of the week. -#}
{% macro booking_intent_measures() -%}
    count(*) as calls,
    count(*) filter (where booking_intent) as intent_calls,
    count(*) filter (where booked) as booked_calls,
    count(*) filter (where booking_intent and booked) as intent_booked_calls,
    count(*) filter (where is_missed_intent) as missed_intent_calls
{%- endmacro %}
