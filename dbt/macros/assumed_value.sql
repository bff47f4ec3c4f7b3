{#- One end of the range that a practice assumes for the worth of a visit (variable `visit_value`), 0 the lower and 1
   the higher; null if it assumes none. -#}
{% macro assumed_value(practice_id, end) -%}
    {%- set values = var('visit_value') -%}
    case
        {%- for practice, range in values.items() if practice != 'default' %}
        when {{ practice_id }} = {{ text_literal(practice) }} then {{ range[end] }}
        {%- endfor %}
        when true then {{ values['default'][end] if 'default' in values else 'cast(null as double)' }}
    end
{%- endmacro %}
