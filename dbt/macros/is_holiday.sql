{#- Whether a day is one of the variable `holidays`: by practice, else those of `default`; each as 2025-12-25 or, for
   every year, as 12-25. -#}
{% macro is_holiday(practice_id, day) -%}
    {%- set default = var('holidays').get('default', []) -%}
    case
        {%- for practice, days in var('holidays').items() if practice != 'default' %}
        when {{ practice_id }} = {{ text_literal(practice) }} then {{ is_on_one_of(day, days) }}
        {%- endfor %}
        when {{ is_on_one_of(day, default) }} then true
        else false
    end
{%- endmacro %}

{% macro is_on_one_of(day, days) -%}
    (
        {{ is_one_of('cast(' ~ day ~ ' as string)', days) }}
        or {{ is_one_of('substr(cast(' ~ day ~ ' as string), 6)', days) }}
    )
{%- endmacro %}
