{#-
    What the caller wanted: the outcome tells a reschedule, a confirmation or a cancellation (variable `other_wishes`);
    any other intent is one for a new booking. Null where nothing was wanted.
-#}
{% macro wish(outcome, intent) -%}
    case
        {%- for word, wanted in var('other_wishes').items() %}
        when {{ outcome }} = '{{ word }}' then '{{ wanted }}'
        {%- endfor %}
        when {{ intent }} then 'new_booking'
    end
{%- endmacro %}
