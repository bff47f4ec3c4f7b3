{#- How long after its end the numbers of a day may still change by themselves: until outreach is mature, missed
   callers could have come back (7 days), and an unbooked episode is lost. -#}
{% macro final_after_hours() -%}
    {{ [var('mature_after_hours'), 7 * 24, var('lost_after_days') * 24, var('booking_window_days') * 24] | max }}
{%- endmacro %}
