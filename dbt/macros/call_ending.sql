{#- How a call ended for its caller: the variable `call_endings` by the outcome; a call that nobody answered is lost
   unless its outcome says otherwise. -#}
{% macro call_ending(outcome, is_answered) -%}
    case
        {%- for ending, outcomes in var('call_endings').items() if outcomes %}
        when {{ is_one_of(outcome, outcomes) }} then '{{ ending }}'
        {%- endfor %}
        when not {{ is_answered }} then 'lost'
        else 'other'
    end
{%- endmacro %}
