{#- When an episode of demand was lost: so many days after its last contact, where nothing was booked until then. -#}
{% macro lost_at(episodes, bookings, clock) -%}
    case
        when
            {{ bookings }}.booked_at is null
            and {{ hours_between(episodes ~ '.last_at', clock ~ '.source_clock') }} > {{ var('lost_after_days') }} * 24
            then {{ episodes }}.last_at + interval {{ var('lost_after_days') * 24 }} hours
    end
{%- endmacro %}
