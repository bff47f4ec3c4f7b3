{#- When an episode of demand was lost: 14 days after its last contact, where nothing was booked until then. -#}
{% macro lost_at(episodes, clock) -%}
    case
        when {{ episodes }}.booked_via is null and {{ hours_between(episodes ~ '.last_at', clock ~ '.source_clock') }} > 14 * 24
            then {{ episodes }}.last_at + interval 336 hours
    end
{%- endmacro %}
