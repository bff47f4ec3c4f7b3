{#- The counts of booking sessions, by practice or by group. -#}
{% macro booking_funnel_measures() -%}
    count(*) as sessions,
    count(*) filter (where status = 'completed') as completed,
    count(*) filter (where status = 'abandoned') as abandoned,
    count(*) filter (where status = 'active') as active,
    count(*) filter (where has_appointment) as with_appointment,
    {{ median('minutes_to_complete') }} as median_minutes_to_complete
{%- endmacro %}
