{#- The caller's request: the outcome shows a reschedule, a confirmation or a cancellation (variable
   `other_wishes`); any other intent is for a new booking. Null if there was no intent. -#}
{% macro wanted(outcome, intent) -%}
    case
        {%- for word, request in var('other_wishes').items() %}
        when {{ outcome }} = '{{ word }}' then '{{ request }}'
        {%- endfor %}
        when {{ intent }} then 'new_booking'
    end
{%- endmacro %}
