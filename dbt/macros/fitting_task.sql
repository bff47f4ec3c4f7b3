{#- Whether a task of a type follows up a contact: the variable `follow_up_task_types`, by the wanted service. -#}
{% macro is_fitting_task(task_type, wanted) -%}
    case
        {%- for service, types in var('follow_up_task_types').items() if service != 'default' %}
        when {{ wanted }} = '{{ service }}' then {{ is_one_of(task_type, types) }}
        {%- endfor %}
        else {{ is_one_of(task_type, var('follow_up_task_types')['default']) }}
    end
{%- endmacro %}
