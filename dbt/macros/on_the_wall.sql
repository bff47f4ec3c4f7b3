{#- Instants of a relation on the practice's wall clock, each as `<name>_local`. -#}
{% macro on_the_wall(rows, instants, time_zone='practices.time_zone') -%}
    {%- for instant in instants -%}
        {{ local_time(rows ~ '.' ~ instant, time_zone) }} as {{ instant }}_local{{ ',\n    ' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}
