{#- The kind of the caller's intent: the outcome shows a reschedule, a confirmation or a cancellation (variable
   `other_intents`); any other intent is for a new booking. Null if there was no intent. -#}
{% macro intent_of(outcome, intent) -%}
    case
        {%- for word, request in var('other_intents').items() %}
        when {{ outcome }} = '{{ word }}' then '{{ request }}'
        {%- endfor %}
        when {{ intent }} then 'new_booking'
    end
{%- endmacro %}
