{#- The counts of phone calls, by day or by hour of the week. -#}
{% macro booking_intent_measures() -%}
    count(*) as calls,
    count(*) filter (where booking_intent) as intent_calls,
    count(*) filter (where booked) as booked_calls,
    count(*) filter (where booking_intent and booked) as intent_booked_calls,
    count(*) filter (where is_missed_intent) as missed_intent_calls,
    count(*) filter (where is_answered) as answered_calls,
    count(*) filter (where is_new_booking_intent) as new_booking_intent_calls,
    count(*) filter (where is_new_booking) as new_booking_calls,
    count(*) filter (where is_missed_new_booking) as missed_new_booking_calls
{%- endmacro %}
