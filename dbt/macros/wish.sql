{#- The caller's request: the outcome shows a reschedule, a confirmation or a cancellation (variable
   `other_wishes`); any other intent is for a new booking. Null if there was no intent. -#}
{% macro wish(outcome, intent) -%}
    case
        {%- for word, wanted in var('other_wishes').items() %}
        when {{ outcome }} = '{{ word }}' then '{{ wanted }}'
        {%- endfor %}
        when {{ intent }} then 'new_booking'
    end
{%- endmacro %}
